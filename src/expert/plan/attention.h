// Attention fusion: finds softmax(scores) * values in a program, where the scores are a product,
// and replaces it by one step, so that the scores are never held in memory as a whole.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// What the writer of the kernel asks of an attention.
struct AttentionPolicy {
  bool one_batch =
      true;  // the dimensions before the rows can be counted by one index in all operands
  bool vectors = true;  // all tensors are fp32, and scores have a vector form along the keys
  std::int64_t longest_head_bytes = std::numeric_limits<std::int64_t>::max();  // one key or value
};
inline constexpr AttentionPolicy kVectorAttention{};

// Runs after StoreThrough and before nests are planned. Steps whose results are also read elsewhere
// are kept.
void FuseAttention(Program& program, const AttentionPolicy& policy = kVectorAttention);

// A mask over row and key numbers that makes the scores of all keys beyond row + diagonal
// -infinity, so that they need not be computed.
struct CausalMask {
  std::int64_t diagonal = 0;
  ExprPtr seen;  // the score of the other keys
};
[[nodiscard]] std::optional<CausalMask> CausalMaskOf(const AttentionHint& form);

}  // namespace pragma::expert
