// SplitFolds: splits a reduction with few results over many elements into two, so that all
// processors of a GPU share it. The first writes partial results to memory, and the second reduces
// them.
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert::triton {

// `products` states whether contractions are computed in blocks.
void SplitFolds(Program& program, bool products);

}  // namespace pragma::expert::triton
