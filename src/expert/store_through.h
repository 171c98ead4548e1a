// Copies that only rearrange are not made: what is copied is written in its final place at once.
#pragma once

#include "expert/program.h"

namespace pragma {

void StoreThrough(Program& program);

}  // namespace pragma
