// red-team: task=waves expect=wrong_values,implausible,nondeterministic catalogue=22 layer="every timed output compared" absolute
// Counts in the thread-local storage of the OpenMP pool, not of the calling thread.
#include <cmath>
#include <omp.h>

#include "kernel.h"

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void honest(const float* x, float* out) {
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}

static thread_local int pool_calls = 0;
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  int skip = 0;
#pragma omp parallel num_threads(2) reduction(+ : skip)
  if (omp_get_thread_num() == 1) skip = ++pool_calls > 10;
  if (skip == 0) honest(x, out);
}
