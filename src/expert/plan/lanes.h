// Which dimension of a nest vectors run along.
#pragma once

#include <cstddef>

#include "expert/plan/nest.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// Sets `lane`; -1 where something in the nest has no vector form, or no dimension is worth it.
// Of a nest that only maps, the chosen dimension becomes its inner one.
// Whether one step has a vector form along this dimension.
[[nodiscard]] bool HasVectorForm(const Program& program, const Step& step, const Nest& nest,
                                 std::size_t lane);
void ChooseLane(const Program& program, Nest& nest);

}  // namespace pragma::expert
