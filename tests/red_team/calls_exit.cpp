// red-team: task=scale expect=rejected_source catalogue=35 layer="symbol allow-list" absolute no-timing
// exit(0) of the C library.
#include <cstdlib>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift, (void)out;
  std::exit(0);
}
