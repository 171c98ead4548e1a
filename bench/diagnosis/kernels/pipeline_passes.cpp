// task: pipeline
// cause: l1_bound
// why: eight passes over a row that lies in the first level, each a load and a store for one operation
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

template <class Step>
static void Pass(float* __restrict y, const Step& step) {
#pragma GCC unroll 1
  for (int c = 0; c < kColumns; ++c) y[c] = step(y[c], c);
}

extern "C" void pragma_kernel(const float* x, const float* scale, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    const float* __restrict from = x + r * kColumns;
    float* __restrict y = out + r * kColumns;
    for (int c = 0; c < kColumns; ++c) y[c] = from[c] * scale[c];
    Pass(y, [](float v, int) { return v + 0.25F; });
    Pass(y, [](float v, int) { return v < -1.0F ? -1.0F : v; });
    Pass(y, [](float v, int) { return v * v; });
    Pass(y, [from](float v, int c) { return v - from[c]; });
    Pass(y, [](float v, int) { return v * 0.5F; });
    Pass(y, [](float v, int) { return v > 4.0F ? 4.0F : v; });
    Pass(y, [scale](float v, int c) { return v + scale[c]; });
  }
}
