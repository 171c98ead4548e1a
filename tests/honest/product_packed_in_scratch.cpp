// honest: task=square
// Blocks of b packed into scratch before they are used.
#include <cstring>

#include "kernel.h"

constexpr int kN = task::a_dims[0];
constexpr int kBlock = 64;
extern "C" constinit const std::size_t pragma_scratch_bytes = sizeof(float) * kBlock * kBlock;

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  auto packed = static_cast<float*>(scratch);
  std::memset(out, 0, sizeof(float) * kN * kN);
  for (int k0 = 0; k0 < kN; k0 += kBlock)
    for (int j0 = 0; j0 < kN; j0 += kBlock) {
      for (int k = 0; k < kBlock; ++k)
        std::memcpy(packed + k * kBlock, b + (k0 + k) * kN + j0, sizeof(float) * kBlock);
      for (int i = 0; i < kN; ++i)
        for (int k = 0; k < kBlock; ++k)
          for (int j = 0; j < kBlock; ++j)
            out[i * kN + j0 + j] += a[i * kN + k0 + k] * packed[k * kBlock + j];
    }
}
