// red-team: task=scale expect=timeout,out_of_memory,compile_error catalogue=47 layer="limits" absolute no-timing
// Computes for ever at compile time.
#include "kernel.h"
constexpr long forever(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) sum += i % 7;
  return sum;
}
template <long N>
struct Sum {
  static constexpr long value = forever(30000000 + N) + Sum<N - 1>::value;
};
template <>
struct Sum<0> {
  static constexpr long value = 0;
};
static_assert(Sum<800>::value != 0);
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
