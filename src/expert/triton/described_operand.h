// An operand of a product that is loaded by a tensor descriptor: blocks of a matrix, which Hopper's
// copy engine brings to shared memory without registers, and whose parts outside the matrix are
// zero. Such a kernel is persistent: each program takes one tile after the other, so that loads of
// the next tile overlap the store of the last. Measured in bf16 on an H200: 4096^3 at 1.04 of
// cuBLAS's speed (by pointers 1.03), with a transposed right operand at 1.08 (0.91).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "expert/ir/program.h"
#include "expert/plan/contraction.h"
#include "expert/plan/nest.h"

namespace pragma::expert::triton {

struct DescribedOperand {
  int buffer = -1;
  std::int64_t offset = 0;  // of the first element
  std::int64_t lines = 0;   // of `length` contiguous elements, over all batches
  std::int64_t length = 0;
  std::int64_t stride = 0;          // elements from line to line
  std::int64_t batch_lines = 0;     // lines from batch to batch; 0: all batches share one matrix
  bool depth_is_contiguous = true;  // each line is a row over the depth; otherwise a step of it

  // Returns the descriptor's definition. `rows_block` is a constant such as "BLOCK_M".
  [[nodiscard]] std::string Definition(const std::string& name, const std::string& source,
                                       const std::string& rows_block) const;
  // Returns the load of a block of (rows, depth), or of (depth, rows) if `depth_first`. `row` is
  // the code of its first row.
  [[nodiscard]] std::string Load(const std::string& name, const std::string& row,
                                 bool depth_first) const;
};

struct DescribedProduct {
  DescribedOperand left;
  DescribedOperand right;
};

// Returns the operands of a product as descriptors. Returns nullopt where one of them is not a
// plain matrix with contiguous rows or columns that begin at multiples of 16 bytes, where the terms
// that are summed differ between tiles, or where the product is too small for it to matter.
// `depth_block` is the largest block of the depth.
[[nodiscard]] std::optional<DescribedProduct> Described(const Program& program, const Nest& nest,
                                                        const Contraction& form, int depth_block);

}  // namespace pragma::expert::triton
