// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernel.h"

using std::int64_t;

constexpr int64_t kBatchHeads = task::query_dims[0] * task::query_dims[1];
constexpr int64_t kQueries = task::query_dims[2];
constexpr int64_t kKeys = task::key_dims[2];
constexpr int64_t kWidth = task::query_dims[3];
#if defined(PRAGMA_BUG)  // bug: wrong stride: heads of the keys step by the count of queries
constexpr int64_t kKeyHeadStride = kQueries * kWidth;
#else
constexpr int64_t kKeyHeadStride = kKeys * kWidth;
#endif

// One query over all keys and values of its head.
static void Attend(const float* query, const float* keys, const float* values, float* out) {
  const float scale = 1 / std::sqrt(static_cast<float>(kWidth));
  float weights[kKeys];
  for (int64_t k = 0; k < kKeys; ++k) {
    float dot = 0;
    for (int64_t d = 0; d < kWidth; ++d) dot += query[d] * keys[k * kWidth + d];
    weights[k] = dot * scale;
  }
  const float largest = *std::max_element(weights, weights + kKeys);
  float sum = 0;
  for (float& weight : weights) sum += weight = std::exp(weight - largest);
  std::fill(out, out + kWidth, 0.0F);
  for (int64_t k = 0; k < kKeys; ++k) {
    const float share = weights[k] / sum;
    for (int64_t d = 0; d < kWidth; ++d) out[d] += share * values[k * kWidth + d];
  }
}

extern "C" void pragma_kernel(const float* query, const float* key, const float* value, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for collapse(2)
  for (int64_t head = 0; head < kBatchHeads; ++head) {
    for (int64_t q = 0; q < kQueries; ++q) {
      const int64_t position = (head * kQueries + q) * kWidth;
      Attend(query + position, key + head * kKeyHeadStride, value + head * kKeys * kWidth,
             out + position);
    }
  }
}
