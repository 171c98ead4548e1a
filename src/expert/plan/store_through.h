// Copies that only rearrange are not made: what is copied is written in its final place at once.
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert {

void StoreThrough(Program& program);

}  // namespace pragma::expert
