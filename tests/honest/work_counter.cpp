// honest: task=softplus_rows
// Threads fetch blocks of rows from a static atomic counter that each call sets back to zero.
#include <atomic>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static std::atomic<int> next{0};

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  next.store(0, std::memory_order_relaxed);
#pragma omp parallel
  for (int r = next.fetch_add(1); r < kRows; r = next.fetch_add(1)) {
    double sum = 0;
    for (int c = 0; c < kColumns; ++c) {
      const float v = x[r * kColumns + c];
      sum += std::fmax(v, 0.0f) + std::log1p(std::exp(-std::fabs(v)));
    }
    out[r] = static_cast<float>(sum);
  }
}
