// task: epilogue
// cause: not_vectorised
// why: each element passes through a list of std::function: three indirect calls an element, which nothing can inline or vectorise
// pragma-flags: -O3 -march=native -fopenmp
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, const float* scale, const float* bias, float* out,
                              void* /*scratch*/) {
  const std::vector<std::function<float(float, int)>> steps = {
      [scale](float value, int column) { return value * scale[column]; },
      [bias](float value, int column) { return value + bias[column]; },
      [](float value, int) { return value < -1.0F  ? -1.0F
                                    : value > 6.0F ? 6.0F
                                                   : value; }};
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      float value = x[std::int64_t{r} * kColumns + c];
      for (const auto& step : steps) value = step(value, c);
      out[std::int64_t{r} * kColumns + c] = value;
    }
  }
}
