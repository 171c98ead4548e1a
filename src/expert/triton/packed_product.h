// Packed operands of a large product: before it, each operand is written once as two matrices, its
// values rounded to TF32 and what that leaves, row by row of the depth and padded to whole tiles.
// The product then takes both straight from shared memory to the tensor cores. Splitting them in
// its loop, as `tf32x3` does, goes through registers each time, and odd sizes load one by one: seen
// on an H100 at 4096^3 1.36 ms and 0.15 ms for packing in place of 2.47 ms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "expert/nest.h"
#include "expert/program.h"
#include "expert/triton/contraction.h"
#include "expert/triton/kernel_text.h"

namespace pragma::triton {

inline constexpr std::int64_t kPackedRows = 128;  // rows and depth are multiples of these
inline constexpr std::int64_t kPackedDepth = 64;

// Buffers of [batch, rows, depth].
struct PackedOperand {
  int high = -1;
  int low = -1;
  std::int64_t rows = 0;
  std::int64_t depth = 0;
};

struct PackedProduct {
  PackedOperand left;   // rows of the product
  PackedOperand right;  // its columns
};

// Where packing takes little next to the product, with its new scratch buffers.
[[nodiscard]] std::optional<PackedProduct> Packed(Program& program, const Nest& nest);
[[nodiscard]] KernelText PackLeft(const Program& program, const Nest& nest,
                                  const PackedOperand& packed, const std::string& name);
[[nodiscard]] KernelText PackRight(const Program& program, const Nest& nest,
                                   const PackedOperand& packed, const std::string& name);

}  // namespace pragma::triton
