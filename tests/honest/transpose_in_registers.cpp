// honest: task=transpose
// Four by four in registers.
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];
static_assert(kRows % 4 == 0 && kColumns % 4 == 0);

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; r += 4)
    for (int c = 0; c < kColumns; c += 4) {
      __m128 r0 = _mm_loadu_ps(x + r * kColumns + c), r1 = _mm_loadu_ps(x + (r + 1) * kColumns + c);
      __m128 r2 = _mm_loadu_ps(x + (r + 2) * kColumns + c),
             r3 = _mm_loadu_ps(x + (r + 3) * kColumns + c);
      _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
      _mm_storeu_ps(out + c * kRows + r, r0);
      _mm_storeu_ps(out + (c + 1) * kRows + r, r1);
      _mm_storeu_ps(out + (c + 2) * kRows + r, r2);
      _mm_storeu_ps(out + (c + 3) * kRows + r, r3);
    }
}
