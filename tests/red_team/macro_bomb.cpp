// red-team: task=scale expect=rejected_source,timeout,out_of_memory,compile_error catalogue=47 layer="limits" absolute no-timing slow
// Macros that expand to two billion words.
#include "kernel.h"
#define A0 1, 1, 1, 1, 1, 1, 1, 1
#define A1 A0, A0, A0, A0, A0, A0, A0, A0
#define A2 A1, A1, A1, A1, A1, A1, A1, A1
#define A3 A2, A2, A2, A2, A2, A2, A2, A2
#define A4 A3, A3, A3, A3, A3, A3, A3, A3
#define A5 A4, A4, A4, A4, A4, A4, A4, A4
#define A6 A5, A5, A5, A5, A5, A5, A5, A5
#define A7 A6, A6, A6, A6, A6, A6, A6, A6
#define A8 A7, A7, A7, A7, A7, A7, A7, A7
#define A9 A8, A8, A8, A8, A8, A8, A8, A8
static const char table[] = {A9};
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
