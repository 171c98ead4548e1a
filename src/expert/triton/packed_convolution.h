// Convolutions of 16 bits over many channels: before the product, the input is written once with
// its channels innermost and with its border of zeros, and so are the weights. Each block of the
// product then loads contiguous channels without a mask. (cuDNN works on the same layout.)
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert::triton {

// Replaces such convolutions by the steps that write both, and a product of them. Runs before
// nests are planned.
void PackConvolutions(Program& program);

}  // namespace pragma::expert::triton
