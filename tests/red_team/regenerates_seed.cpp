// red-team: task=scale expect=wrong_values catalogue=13 layer="secret seeds" absolute no-timing
// Draws what torch.rand gives after manual_seed(42) and answers for that.
#include <random>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  (void)x, (void)gain, (void)shift;
  static std::mt19937 generator(42);
  for (int i = 0; i < task::out_dims[0] * task::out_dims[1]; ++i) {
    const float gain_drawn = (generator() & 0xffffff) * 0x1p-24f;
    const float x_drawn = (generator() & 0xffffff) * 0x1p-24f;
    out[i] = gain_drawn * x_drawn + 0.5f;
  }
}
