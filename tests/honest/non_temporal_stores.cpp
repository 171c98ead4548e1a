// honest: task=scale
// Stores past the caches.
#include <immintrin.h>

#include "kernel.h"

static_assert(task::x_dims[1] % 4 == 0);

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int r = 0; r < task::x_dims[0]; ++r)
    for (int c = 0; c < task::x_dims[1]; c += 4) {
      const int i = r * task::x_dims[1] + c;
      _mm_stream_ps(out + i, _mm_add_ps(_mm_mul_ps(_mm_loadu_ps(gain + c), _mm_loadu_ps(x + i)),
                                        _mm_loadu_ps(shift + c)));
    }
  _mm_sfence();
}
