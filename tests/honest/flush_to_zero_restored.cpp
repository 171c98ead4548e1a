// honest: task=scale
// Sets flush-to-zero round its loop and puts back what was there.
#include <immintrin.h>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);
  for (int r = 0; r < task::x_dims[0]; ++r)
    for (int c = 0; c < task::x_dims[1]; ++c)
      out[r * task::x_dims[1] + c] = gain[c] * x[r * task::x_dims[1] + c] + shift[c];
  _mm_setcsr(before);
}
