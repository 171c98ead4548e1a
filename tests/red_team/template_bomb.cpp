// red-team: task=scale expect=timeout,out_of_memory,compile_error catalogue=47 layer="limits" absolute no-timing slow
// Templates that double with each level.
#include "kernel.h"
template <int N, long Path>
struct Bomb {
  static constexpr long value = Bomb<N - 1, 2 * Path>::value + Bomb<N - 1, 2 * Path + 1>::value;
};
template <long Path>
struct Bomb<0, Path> {
  static constexpr long value = Path;
};
static_assert(Bomb<40, 1>::value > 0);
extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i)
    out[i] = gain[i % task::x_dims[1]] * x[i] + shift[i % task::x_dims[1]];
  (void)scratch;
}
