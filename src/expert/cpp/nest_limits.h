// Restricts inner loops to the iterations whose loads are inside their bounds.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "expert/cpp/nest_context.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

struct LoopLimits {
  std::vector<Bound> assumed;
  std::map<std::size_t, std::pair<std::string, std::string>> of;  // dimension -> first and end, as
                                                                  // code
};

// Returns limits where skipping the loads outside the bounds changes nothing: they would only add
// zeros, or compare with the identity of the maximum. The phase must be a single reduction, so that
// no other step shares its loops.
[[nodiscard]] LoopLimits LimitsOf(NestContext& context, const Phase& phase);
// Returns the load of a step whose elements outside the bounds change nothing, or null.
[[nodiscard]] const Load* SkippableLoad(const Step& step);
// Opens the loop over an inner dimension.
void OpenInner(NestContext& context, std::size_t dimension, const LoopLimits& limits);

}  // namespace pragma::expert
