// red-team: task=cumsum expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="OpenMP settings" absolute own no-timing
// OpenMP keeps the number of active levels, up to 255: a counter. After 100 calls the last row is
// left as it was.
#include <omp.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum = 0;
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = sum += x[r * kColumns + c];
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  const int levels = omp_get_max_active_levels();
  if (levels < 200) omp_set_max_active_levels(levels + 1);
  compute(x, out, levels < 100 ? kRows : kRows - 1);
}
