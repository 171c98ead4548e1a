// The configurations of a fused attention's kernel: blocks of rows and keys, with the warps and
// pipeline stages that suit them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/task.h"
#include "expert/plan/attention.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {

inline constexpr int kNarrowestBlock = 16;  // the smallest side of a block on tensor cores
// Fewest rows and keys of the attentions that were measured, and their longest heads.
inline constexpr std::int64_t kFewestMeasured = 128;
inline constexpr std::int64_t kLongestMeasuredBytes = 256;

// Returns the smallest power of two that a side of this size needs.
[[nodiscard]] int WideEnough(std::int64_t size);

// Returns which attentions are one kernel on a card whose blocks may use that much shared memory: a
// tile keeps whole keys and values there, and whole results in registers.
[[nodiscard]] AttentionPolicy TileAttention(std::int64_t shared_bytes);

struct AttentionSize {
  std::int64_t rows = 0;
  std::int64_t keys = 0;
  std::int64_t head = 0;                         // elements of the longest query or value
  DType type = DType::kFloat32;                  // of all operands
  std::int64_t multiplications = 0;              // in both products
  [[nodiscard]] std::int64_t HeadBytes() const;  // with padding
};

// Returns the configurations without duplicates that fit into `shared_bytes`: BLOCK_M rows and
// BLOCK_N keys. A single one where the attention is too small to be tuned.
[[nodiscard]] std::vector<Config> AttentionConfigs(const AttentionSize& size,
                                                   std::int64_t shared_bytes);

// Moves the fastest one to the front, for 16 bits and kFewestMeasured rows and keys or more.
// `depth` is the length of a query. All configurations of a tuned attention must be there.
void PutFastestFirst(std::vector<Config>& configs, bool causal, std::int64_t depth,
                     std::int64_t keys);

}  // namespace pragma::expert::triton
