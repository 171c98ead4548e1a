// Packed operands of a large product: before it, each operand is written once as two matrices, its
// values rounded to TF32 and what that leaves, row by row of the depth and padded to whole tiles.
// The product then takes both straight from shared memory to the tensor cores. Splitting them in
// its loop, as `tf32x3` does, goes through registers each time, and odd sizes load one by one: seen
// on an H100 at 4096^3 1.36 ms and 0.15 ms for packing in place of 2.47 ms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expert/ir/expression.h"
#include "expert/plan/nest.h"
#include "expert/ir/program.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {

inline constexpr std::int64_t kPackedRows = 128;  // rows and depth are multiples of these
inline constexpr std::int64_t kPackedDepth = 64;

// How a kernel counts its rows, and the suffixes of rows and depth in its tiles.
struct PackedAxes {
  const char* row;
  const char* row_suffix;
  const char* depth_suffix;
};

struct PackedOperand {
  ExprPtr operand;
  std::vector<std::size_t> row_dims;  // of the product's nest
  int high = -1;                      // buffers of [batch, rows, depth]
  int low = -1;
  std::int64_t batch = 1;
  std::int64_t rows = 0;
  std::int64_t depth = 0;

  [[nodiscard]] std::int64_t Count() const { return batch * rows * depth; }
  // "batch * 4096 + (m * 64)[:, None] + k[None, :]"
  [[nodiscard]] std::string Place(const PackedAxes& axes) const;
};

struct PackedProduct {
  PackedOperand left;   // rows of the product
  PackedOperand right;  // its columns

  [[nodiscard]] bool NeedsWideIndex() const;
};

// Where packing takes little next to the product, with its new scratch buffers.
[[nodiscard]] std::optional<PackedProduct> Packed(Program& program, const Nest& nest);
[[nodiscard]] KernelText PackKernel(const Program& program, const Nest& nest,
                                    const PackedOperand& packed, const std::string& name);

}  // namespace pragma::expert::triton
