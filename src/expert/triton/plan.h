// PlanKernels: decides which steps share a kernel.
#pragma once

#include <vector>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert::triton {

// Returns the nests in order. Nests marked `anchored` are contractions together with the steps that
// follow them. Without `products` there are none.
[[nodiscard]] std::vector<Nest> PlanKernels(const Program& program, bool products);

}  // namespace pragma::expert::triton
