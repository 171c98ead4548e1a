// The configurations of a product's kernel: blocks of rows, columns and depth, with the warps and
// pipeline stages that suit them.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/ir/target.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {

struct ProductSize {
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t depth = 1;
  std::int64_t shared_bytes = kMeasuredSharedBytes;  // that a block may use; all configurations fit
};

// How operands reach the tensor cores.
enum class Operands : std::uint8_t {
  kInRegisters,  // split into parts or converted there
  kStored,       // of 16 bits, multiplied as they are stored
  kInParts,      // fp32 in two parts, loaded as they are
};

// One program for each block of BLOCK_M rows and BLOCK_N columns of each batch.
[[nodiscard]] std::vector<GridFactor> ProductGrid(const ProductSize& size);
// Returns the configurations, with blocks no larger than the matrices and without duplicates; a
// single one where the product is too small to be tuned.
[[nodiscard]] std::vector<Config> ProductConfigs(const ProductSize& size, Operands operands);
// Returns the configurations of a persistent kernel, the fastest one first. Their constant PROGRAMS
// is the number of programs. Two of them share a processor where their blocks are small, so that
// one computes while the other stores.
[[nodiscard]] std::vector<Config> PersistentConfigs(const ProductSize& size);
// Returns the configurations for packed operands, which are padded to whole blocks of these sizes.
[[nodiscard]] std::vector<Config> PackedConfigs(std::int64_t shared_bytes);

}  // namespace pragma::expert::triton
