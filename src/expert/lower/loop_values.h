// Values that a loop computes from what is there before it, a part in each iteration: a scan's
// exp(a * dt[t]), say. Nothing of the size of all time steps has to be stored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "expert/ir/expression.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {

// A part of a value that is stored before the loop.
struct StoredPart {
  ExprPtr expr;
  ExprPtr load;
};

// Returns the value with its costly parts stored that need few of its dimensions: such a part would
// be computed again and again. Returns nullopt where the value cannot be computed in parts.
// `stored` are the parts of earlier values; new ones are added.
[[nodiscard]] std::optional<Value> WithNarrowPartsStored(ProgramBuilder& builder,
                                                         const Value& value,
                                                         std::vector<StoredPart>& stored);

// Returns by how many elements each buffer that `other` reads lies behind what `first` reads of it,
// or nullopt where the two differ in another way too.
[[nodiscard]] std::optional<std::map<int, std::int64_t>> DistancesBetween(const ExprPtr& first,
                                                                          const ExprPtr& other);

}  // namespace pragma::expert
