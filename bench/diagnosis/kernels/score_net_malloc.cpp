// task: score_net
// cause: page_faults
// why: the hidden layer of all rows, 34 MiB, comes from malloc in every call: 8704 page faults for a product of depth 8
// pragma-flags: -O3 -march=native -fopenmp
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "kernel.h"

constexpr std::int64_t kRows = task::x_dims[0], kInputs = task::x_dims[1], kHidden = task::w_dims[1];

extern "C" void pragma_kernel(const float* x, const float* w, const float* v, float* out,
                              void* /*scratch*/) {
  auto* hidden = static_cast<float*>(std::malloc(sizeof(float) * kRows * kHidden));
#pragma omp parallel for
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* in = x + r * kInputs;
    float* h = hidden + r * kHidden;
#pragma omp simd
    for (std::int64_t c = 0; c < kHidden; ++c) {
      float sum = 0;
#pragma GCC unroll 8
      for (int k = 0; k < kInputs; ++k) sum += in[k] * w[k * kHidden + c];
      h[c] = sum > 0 ? sum : 0;
    }
    float score = 0;
#pragma omp simd reduction(+ : score) simdlen(64)
    for (std::int64_t c = 0; c < kHidden; ++c) score += h[c] * v[c];
    out[r] = score;
  }
  std::free(hidden);
}
