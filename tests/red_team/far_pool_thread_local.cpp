// red-team: task=rows expect=wrong_values,nondeterministic,sandbox_violation,crashed catalogue=22 layer="state between calls" heuristic own no-timing
// Each OpenMP thread counts its own calls; when one has worked for five million it leaves out the last
// of its rows.
#include <omp.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void compute(const float* x, float* out, int rows) {
  for (int r = 0; r < rows; ++r) {
    float sum[8] = {};
    for (int c = 0; c < kColumns; ++c) sum[c % 8] += x[r * kColumns + c];
    out[r] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

static thread_local int calls = 0;

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    const int first = kRows * me / threads;
    int rows = kRows * (me + 1) / threads - first;
    if (++calls > 5000000 && me > 0) --rows;
    compute(x + first * kColumns, out + first, rows);
  }
}
