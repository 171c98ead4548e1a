// Removes copies that only rearrange elements: the copied value is written to its final place at
// once.
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert {

void StoreThrough(Program& program);

}  // namespace pragma::expert
