// Packed operands of a large product. Before the product, each operand is written once as two
// matrices: its values rounded to TF32, and the remainders. They are stored row by row of the depth
// and are padded to whole tiles. The product then loads both straight from shared memory into the
// tensor cores. Splitting the operands in the product's loop, as `tf32x3` does, goes through
// registers each time, and odd sizes are loaded element by element. Measured on an H100 at 4096^3:
// 1.36 ms plus 0.15 ms for packing, instead of 2.47 ms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {

inline constexpr std::int64_t kPackedRows = 128;  // rows and depth are padded to multiples of these
inline constexpr std::int64_t kPackedDepth = 64;

// The code for a row index in a kernel, and the suffixes of rows and depth in its tiles.
struct PackedAxes {
  const char* row;
  const char* row_suffix;
  const char* depth_suffix;
};

struct PackedOperand {
  ExprPtr operand;
  std::vector<std::size_t> row_dims;  // dimensions of the product's nest
  int high = -1;                      // number of the buffer, of shape [batch, rows, depth]
  int low = -1;
  std::int64_t batch = 1;
  std::int64_t rows = 0;
  std::int64_t depth = 0;

  [[nodiscard]] std::int64_t Count() const { return batch * rows * depth; }
  // Returns the offset as code, such as "batch * 4096 + (m * 64)[:, None] + k[None, :]".
  [[nodiscard]] std::string Place(const PackedAxes& axes) const;
};

struct PackedProduct {
  PackedOperand left;   // its rows are rows of the product
  PackedOperand right;  // its rows are columns of the product

  [[nodiscard]] bool NeedsWideIndex() const;
};

// Returns the packed operands, with their new scratch buffers, where packing takes little time
// compared with the product. Otherwise returns nullopt.
[[nodiscard]] std::optional<PackedProduct> Packed(Program& program, const Nest& nest);
[[nodiscard]] KernelText PackKernel(const Program& program, const Nest& nest,
                                    const PackedOperand& packed, const std::string& name);

}  // namespace pragma::expert::triton
