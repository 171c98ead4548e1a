// Folds that several operators are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/lower/program_builder.h"

namespace pragma::expert {

[[nodiscard]] Value Times(ProgramBuilder& builder, const Value& value, double factor);
[[nodiscard]] Value Mean(ProgramBuilder& builder, const Value& value,
                         const std::vector<bool>& folded, bool keep);
// The sum of (value - mean)^2: twice over the data, as exact as one can have it.
[[nodiscard]] Value SquaredDistance(ProgramBuilder& builder, const Value& value, const Value& mean,
                                    const ProgramBuilder::FoldPlan& plan);

// e^(value - largest), which cannot overflow, and its sum; folded dimensions are kept.
struct Shifted {
  Value largest;
  Value exponential;
  Value sum;
};
enum class Keep : std::uint8_t { kNothing, kExponentials };
[[nodiscard]] Shifted ShiftedExponentials(ProgramBuilder& builder, const Value& value,
                                          const std::vector<bool>& folded, Keep keep);

}  // namespace pragma::expert
