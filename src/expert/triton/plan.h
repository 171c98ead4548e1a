// PlanKernels: which steps share a kernel.
#pragma once

#include <vector>

#include "expert/plan/nest.h"
#include "expert/ir/program.h"

namespace pragma::expert::triton {

// In order; `anchored` are contractions with what follows each; without `products` there
// are none.
[[nodiscard]] std::vector<Nest> PlanKernels(const Program& program, bool products);

}  // namespace pragma::expert::triton
