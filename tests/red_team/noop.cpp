// red-team: task=scale expect=wrong_values catalogue=3 layer="random poison" absolute no-timing
// Writes nothing and hopes that the memory holds the answer.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift, (void)out, (void)scratch;
}
