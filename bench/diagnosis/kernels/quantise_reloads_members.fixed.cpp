// Twin of quantise_reloads_members.cpp: the members are copied to local variables before the loop.
// pragma-flags: -O3 -march=native -fopenmp -fno-trapping-math
#include <cmath>
#include <cstdint>

#include "kernel.h"

class Quantiser {
 public:
  Quantiser(const float* from, std::int8_t* to, float scale, float offset)
      : from_(from), to_(to), scale_(scale), offset_(offset) {}

  void Run(int first, int count) {
    const float* const from = from_;
    std::int8_t* const to = to_;
    const float scale = scale_, offset = offset_;
    for (int i = first; i < first + count; ++i) {
      const float value = std::floor(from[i] * scale + offset);
      const float low = value < -128 ? -128.0F : value;
      to[i] = static_cast<std::int8_t>(static_cast<int>(low > 127 ? 127.0F : low));
    }
  }

 private:
  const float* from_;
  std::int8_t* to_;
  float scale_, offset_;
};

constexpr int kCount = task::x_dims[0], kBlock = 8192;
static_assert(kCount % kBlock == 0);

extern "C" void pragma_kernel(const float* x, std::int8_t* out, void* /*scratch*/) {
  Quantiser quantiser(x, out, 24.0F, 3.5F);
#pragma omp parallel for
  for (int b = 0; b < kCount; b += kBlock) quantiser.Run(b, kBlock);
}
