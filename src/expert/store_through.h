// Removes copies that only rearrange elements: the copied value is written to its final place at
// once.
#pragma once

#include "expert/program.h"

namespace pragma {

void StoreThrough(Program& program);

}  // namespace pragma
