// One thread of the team ends the process.
#include "kernel.h"

#include <cstdlib>
#include <omp.h>

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)scratch;
  (void)x, (void)gain, (void)shift, (void)out;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) std::abort();
}
