// Convolutions over many channels: before the product, the input is written once with its channels
// innermost and with its border of zeros, and so are the weights. Each block of the product then
// loads contiguous channels without a mask. (cuDNN works on the same layout.) Large operands of
// fp32 are written as two tensors, their values rounded to TF32 and the rest, as packed_product.h
// says.
#pragma once

#include "expert/ir/program.h"

namespace pragma::expert::triton {

// Replaces such convolutions by the steps that write both, and a product of them for each part of a
// transposed one. `splits`: also those of fp32. Runs before nests are planned.
void PackConvolutions(Program& program, bool splits);

}  // namespace pragma::expert::triton
