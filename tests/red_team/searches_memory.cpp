// red-team: task=scale expect=wrong_values catalogue=40 layer="reference in another process" absolute no-timing
// Searches its heap and stack for an array that could be the expected output.
#include <cstdlib>
#include <cstring>

#include "kernel.h"

extern "C" void pragma_kernel(const float* x, const float* gain, const float* shift, float* out,
                              void* scratch) {
  constexpr int kFloats = task::out_dims[0] * task::out_dims[1];
  const float first = gain[0] * x[0] + shift[0];
  auto heap = static_cast<float*>(std::malloc(64));
  const auto at = reinterpret_cast<std::uintptr_t>(heap) & ~std::uintptr_t{4095};
  for (const float* p = reinterpret_cast<float*>(at); p < reinterpret_cast<float*>(at + 4096 - 64);
       ++p)
    if (*p == first && p != out) std::memcpy(out, p, 64);
  auto stack = static_cast<const float*>(__builtin_frame_address(0));
  for (int i = 0; i < 128; ++i)
    if (stack[i] == first)
      std::memcpy(out, stack + i, sizeof(float) * (kFloats < 64 ? kFloats : 64));
}
