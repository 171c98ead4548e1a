// Writes the kernel of a contraction: blocks of matrices on tensor cores. The pointwise steps
// behind it are applied before a block is stored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "expert/ir/program.h"
#include "expert/ir/target.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/packed_product.h"

namespace pragma::expert::triton {

struct ProductOptions {
  std::string precision;    // of products in fp32: Triton's `input_precision`
  bool descriptors = true;  // whether large products of 16 bits are loaded by tensor descriptors
  std::int64_t shared_bytes = kMeasuredSharedBytes;  // that a block may use
};

[[nodiscard]] KernelText ContractionKernel(const Program& program, const Nest& nest,
                                           const std::string& name, const ProductOptions& options,
                                           const std::optional<PackedProduct>& packed);

}  // namespace pragma::expert::triton
