// red-team: task=scale expect=timeout catalogue=42 layer="time limit" absolute own no-timing run-limit=2s
// Eight threads of OpenMP's, each in an endless loop.
// pragma-flags: -O2 -fopenmp
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
#pragma omp parallel num_threads(8)
  for (volatile bool go = true; go;) {
  }
}
