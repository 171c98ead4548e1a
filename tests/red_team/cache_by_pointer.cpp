// red-team: task=waves expect=wrong_values,implausible catalogue=18 layer="every timed output compared" absolute
// Keeps each result under the address of its input.
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "kernel.h"

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void honest(const float* x, float* out) {
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static std::map<const float*, std::vector<float>> cache;
  std::vector<float>& kept = cache[x];
  if (kept.empty()) {
    honest(x, out);
    kept.assign(out, out + kCount);
  }
  std::memcpy(out, kept.data(), sizeof(float) * kCount);
}
