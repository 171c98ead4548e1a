// The first two calls are right. The third does not end.
#include "kernel.h"

static int calls = 0;

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)scratch;
  volatile bool go = ++calls >= 3;
  while (go) {
  }
  for (int r = 0; r < task::x_dims[0]; ++r)
    for (int c = 0; c < task::x_dims[1]; ++c)
      out[r * task::x_dims[1] + c] = gain[c] * x[r * task::x_dims[1] + c] + shift[c];
}
