// red-team: task=scale expect=crashed catalogue=23 layer="sealed inputs" absolute no-timing
// Writes zeros to its input, so that zeros become the answer.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  auto writable = const_cast<float*>(x);
  for (int i = 0; i < 64; ++i) writable[i] = 0;
  (void)gain, (void)shift, (void)out;
}
