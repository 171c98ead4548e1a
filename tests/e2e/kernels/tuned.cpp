// One value of HOW is right and fast; the others are slow, wrong, crash or do not compile.
#include "kernel.h"

PRAGMA_TUNE(HOW, 1, 0, 1, 2, 3, 4);
PRAGMA_TUNE(STEP, 1, 1, 2);
// pragma-constraint: STEP == 1 || HOW == 0
#if PRAGMA_TUNE_HOW == 3
#error "HOW=3 cannot be built"
#endif

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)scratch;
  constexpr auto kColumns = task::x_dims[1];
  if (HOW == 4) __builtin_trap();
  for (int repeat = 0; repeat < (HOW == 1 ? 400 : 1); ++repeat) {
    for (int r = 0; r < task::x_dims[0]; ++r)
      for (int c = 0; c < kColumns; ++c)
        out[r * kColumns + c] = gain[c] * x[r * kColumns + c] + (HOW == 2 ? 0 : shift[c]);
    __asm__ volatile("" ::: "memory");
  }
}
