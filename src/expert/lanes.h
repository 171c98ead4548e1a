// Which dimension of a nest vectors run along.
#pragma once

#include "expert/nest.h"
#include "expert/program.h"

namespace pragma {

// Sets `lane`; -1 where something in the nest has no vector form, or no dimension is worth it.
// Of a nest that only maps, the chosen dimension becomes its inner one.
void ChooseLane(const Program& program, Nest& nest);

}  // namespace pragma
