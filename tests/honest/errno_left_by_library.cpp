// honest: task=sigmoid
// Calls functions of the C library that set errno and the sticky flags for large arguments, and
// ignores both.
#include <cerrno>
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  errno = 0;
  for (int i = 0; i < kRows * kColumns; ++i) {
    const double e = std::exp(-static_cast<double>(x[i]));
    out[i] = static_cast<float>(1 / (1 + e));
  }
  if (errno == EDOM) errno = 0;
}
