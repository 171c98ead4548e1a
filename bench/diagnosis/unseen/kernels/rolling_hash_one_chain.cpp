// task: rolling_hash
// cause: dependency_chain
// why: each token's multiplication and addition wait for the one before
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::tokens_dims[0], kLength = task::tokens_dims[1];
constexpr std::uint64_t kFactor = 1099511628211U;

static std::uint64_t Hash(const std::int32_t* tokens) {
  std::uint64_t hash = 0;
  for (int t = 0; t < kLength; ++t) hash = hash * kFactor + static_cast<std::uint64_t>(tokens[t]);
  return hash;
}

extern "C" void pragma_kernel(const std::int32_t* tokens, std::int64_t* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) out[r] = static_cast<std::int64_t>(Hash(tokens + r * kLength));
}
