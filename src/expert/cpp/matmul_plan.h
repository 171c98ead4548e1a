// The sizes of blocks and tiles of one matrix product, and how threads share it.
#pragma once

#include <cstdint>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/matmul_kernel.h"
#include "expert/ir/target.h"

namespace pragma::expert {

// The sizes chosen for one product.
struct MatmulPlan {
  RegisterTile tile;
  std::int64_t depth_block = 1;
  std::int64_t row_tiles = 1;     // tiles in a block of a
  std::int64_t column_tiles = 1;  // tiles in a block of b
  bool shared = false;            // all threads share packed b
  bool panels = false;            // all threads share packed a
  int threads = 1;
  bool stream = false;
  [[nodiscard]] bool blocked(const MatmulSpec& spec) const { return depth_block < spec.depth; }
};

// Returns whether a or b is known to be zero outside of some diagonals.
[[nodiscard]] bool IsBanded(const MatmulSpec& spec);
// Returns whether b's panels are packed separately from the product.
[[nodiscard]] bool Keeps(const MatmulSpec& spec);

[[nodiscard]] MatmulPlan PlanMatmul(const MatmulSpec& spec, const KernelTarget& target);

}  // namespace pragma::expert
