// Attention fusion: finds softmax(scores) * values in a program, where the scores are a product,
// and replaces it by one step, so that the scores are never held in memory as a whole.
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert {

// Runs after StoreThrough and before nests are planned. Steps whose results are also read elsewhere
// are kept.
void FuseAttention(Program& program);

}  // namespace pragma::expert
