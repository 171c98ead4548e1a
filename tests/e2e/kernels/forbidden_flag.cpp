// pragma-flags: -O3 -fplugin=evil.so
#include "kernel.h"
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out, void* scratch) {
  (void)x, (void)gain, (void)shift, (void)out, (void)scratch;
}
