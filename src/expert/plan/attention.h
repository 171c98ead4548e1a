// Attention: finds softmax(scores) * values in a program, where the scores are a product, and makes
// one step of it, so that the scores need never be in memory as a whole.
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert {

// After StoreThrough, before nests are planned. Steps whose results somebody else reads stay.
void FuseAttention(Program& program);

}  // namespace pragma::expert
