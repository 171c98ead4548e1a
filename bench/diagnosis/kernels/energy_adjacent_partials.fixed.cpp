// Twin of energy_adjacent_partials.cpp: the partial sums of one thread lie together.
// pragma-flags: -O3 -march=native -fopenmp
#include <immintrin.h>
#include <omp.h>

#include <cstddef>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1], kMostThreads = 256;

extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kRows * kMostThreads;

static int Place(int row, int thread) { return thread * kRows + row; }

static float Energy(const float* x, const float* weight) {
  const __m512 value = _mm512_load_ps(x);
  return _mm512_reduce_add_ps(_mm512_mul_ps(_mm512_mul_ps(value, value), _mm512_load_ps(weight)));
}

extern "C" void pragma_kernel(const float* x, const float* weight, float* out, void* scratch) {
  float* partial = static_cast<float*>(scratch);
  int threads = 1;
#pragma omp parallel
  {
    const int count = omp_get_num_threads(), me = omp_get_thread_num();
    if (me == 0) threads = count;
    for (int r = 0; r < kRows; ++r) partial[Place(r, me)] = 0;
    for (int r = 0; r < kRows; ++r)
#pragma omp for nowait
      for (int c = 0; c < kColumns; c += 16)
        partial[Place(r, me)] += Energy(x + r * kColumns + c, weight + c);
  }
  for (int r = 0; r < kRows; ++r) {
    out[r] = 0;
    for (int t = 0; t < threads; ++t) out[r] += partial[Place(r, t)];
  }
}
