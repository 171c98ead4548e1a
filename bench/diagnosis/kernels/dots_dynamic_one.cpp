// task: short_dots16
// cause: atomics_contention
// also: over_parallel
// why: rows of sixteen elements are handed out one by one: the threads fight for the loop's counter, an atomic increment a row
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0];
static_assert(task::x_dims[1] == 16);

extern "C" void pragma_kernel(const float* x, const float* y, float* out, void* /*scratch*/) {
#pragma omp parallel for schedule(dynamic)
  for (int r = 0; r < kRows; ++r)
    out[r] =
        _mm512_reduce_add_ps(_mm512_mul_ps(_mm512_load_ps(x + 16 * r), _mm512_load_ps(y + 16 * r)));
}
