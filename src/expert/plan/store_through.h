// Removes copies that only rearrange elements: the copied value is written to its final place at
// once.
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert {

// `generators`: products and convolutions are written by the generators of C++, which store
// matrices at one stride.
void StoreThrough(Program& program, bool generators = true);

}  // namespace pragma::expert
