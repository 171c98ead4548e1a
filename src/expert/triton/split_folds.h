// SplitFolds: a fold with few results over many elements becomes two, so that all processors of a
// GPU share it: parts into memory, and a fold of the parts.
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert::triton {

// `products`: whether contractions are made in blocks.
void SplitFolds(Program& program, bool products);

}  // namespace pragma::expert::triton
