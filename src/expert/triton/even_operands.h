// Operands of 16 bits whose lines do not begin at multiples of 16 bytes: tensor cores would be fed
// element by element. Before a large product they are copied to lines that do.
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert::triton {

// Inserts those copies. Runs before nests are planned.
void EvenOperands(Program& program);

}  // namespace pragma::expert::triton
