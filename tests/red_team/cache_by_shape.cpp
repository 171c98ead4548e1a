// red-team: task=scale expect=wrong_values catalogue=18 layer="values against fp64" absolute no-timing
// The first result is returned ever after.
#include <cstring>
#include <vector>

#include "kernel.h"

static void honest(const float* x, const float* gain, const float* shift, float* out) {
  for (int r = 0; r < task::x_dims[0]; ++r)
    for (int c = 0; c < task::x_dims[1]; ++c)
      out[r * task::x_dims[1] + c] = gain[c] * x[r * task::x_dims[1] + c] + shift[c];
}

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  static std::vector<float> kept;
  if (kept.empty()) {
    kept.resize(task::out_dims[0] * task::out_dims[1]);
    honest(x, gain, shift, kept.data());
  }
  std::memcpy(out, kept.data(), sizeof(float) * kept.size());
}
