// Attention: C++ text for softmax(score(query * key)) * value whose sizes are known, in blocks of
// keys. Each row keeps its largest score so far and the sum of its weights; when a block has a
// larger score, what was summed before shrinks by the power of e between the two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/matmul_kernel.h"

namespace pragma::expert {

struct AttentionSpec {
  std::string name = "attention";  // the namespace of the text
  std::int64_t batch = 1;
  std::int64_t rows = 1;  // queries of one of the batch
  std::int64_t keys = 1;
  std::int64_t depth = 1;    // of queries and keys
  std::int64_t columns = 1;  // of values and results
  MatrixSteps query;         // first: row, second: depth
  MatrixSteps key;           // first: key, second: depth
  MatrixSteps value;         // first: key, second: column
  MatrixSteps out;           // first: row; second is 1
  // Keys above row + diagonal have no weight.
  std::optional<std::int64_t> diagonal;
  bool empty_zero = false;  // rows without any weight are zero, else NaN
  Epilogue score;           // scales and masks a vector of products: row, column = key
  Epilogue epilogue;        // of results
  std::vector<ExtraParameter> extra;
};

// `static void NAME::Run(const float* query, const float* key, const float* value, float* out,
// extra..., char* scratch)`.
[[nodiscard]] KernelText GenerateAttention(const AttentionSpec& spec, const KernelTarget& target);

}  // namespace pragma::expert
