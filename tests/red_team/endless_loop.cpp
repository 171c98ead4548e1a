// red-team: task=scale expect=timeout catalogue=42 layer="time limit" absolute no-timing run-limit=2s
// An endless loop.
#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift, (void)out;
  for (;;) asm volatile("pause");
}
