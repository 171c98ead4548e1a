// Chooses the dimension of a nest along which vectors run.
#pragma once

#include <cstddef>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// Returns whether one step has a vector form along this dimension.
[[nodiscard]] bool HasVectorForm(const Program& program, const Step& step, const Nest& nest,
                                 std::size_t lane);
// Sets `nest.lane`. It is -1 where something in the nest has no vector form, or where no dimension
// is worth vectorising. In a nest that only maps, the chosen dimension becomes its inner one.
void ChooseLane(const Program& program, Nest& nest);

}  // namespace pragma::expert
