// honest: task=waves
// One sine and one cosine, and the rest by the addition theorem.
#include <cmath>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int i = 0; i < kRows * kColumns; ++i) {
    const double c = 2 * std::cos(static_cast<double>(x[i]));
    double before = 0, now = std::sin(static_cast<double>(x[i])), sum = now;
    for (int k = 2; k <= 10; ++k) {
      const double next = c * now - before;
      before = now;
      now = next;
      sum += now / k;
    }
    out[i] = static_cast<float>(sum);
  }
}
