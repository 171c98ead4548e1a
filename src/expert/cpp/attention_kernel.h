// Attention generator: writes C++ code for softmax(score(query * key)) * value with known sizes, in
// blocks of keys. Each row keeps its largest score so far and the sum of its weights. When a block
// has a larger score, the partial sums so far are scaled by exp(old maximum - new maximum).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/matmul_kernel.h"

namespace pragma::expert {

struct AttentionSpec {
  std::string name = "attention";  // namespace of the generated code
  std::int64_t batch = 1;
  std::int64_t rows = 1;  // number of queries per batch element
  std::int64_t keys = 1;
  std::int64_t depth = 1;    // length of queries and keys
  std::int64_t columns = 1;  // length of values and results
  MatrixSteps query;         // first: row, second: depth
  MatrixSteps key;           // first: key, second: depth
  MatrixSteps value;         // first: key, second: column
  MatrixSteps out;           // first: row; second is 1
  // Keys with an index greater than row + diagonal have no weight.
  std::optional<std::int64_t> diagonal;
  bool empty_zero = false;  // rows without any weight give zero, else NaN
  Epilogue score;           // scales and masks a vector of products; column is the key
  Epilogue epilogue;        // applied to the results
  std::vector<ExtraParameter> extra;
  Tuning tuning;
};

// Generates `static void NAME::Run(const float* query, const float* key, const float* value, float*
// out, extra..., char* scratch)`.
[[nodiscard]] KernelText GenerateAttention(const AttentionSpec& spec, const KernelTarget& target);

}  // namespace pragma::expert
