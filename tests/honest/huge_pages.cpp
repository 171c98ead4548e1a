// honest: task=square
// A buffer of its own on huge pages, kept between calls and filled anew in each.
#include <cstdlib>
#include <sys/mman.h>

#include "kernel.h"

constexpr int kN = task::a_dims[0];

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  static float* const room = [] {
    void* memory = std::aligned_alloc(std::size_t{1} << 21, std::size_t{1} << 21);
    madvise(memory, std::size_t{1} << 21, MADV_HUGEPAGE);
    return static_cast<float*>(memory);
  }();
  for (int i = 0; i < kN; ++i)
    for (int j = 0; j < kN; ++j) room[j * kN + i] = b[i * kN + j];
  for (int i = 0; i < kN; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kN; ++k) sum += a[i * kN + k] * room[j * kN + k];
      out[i * kN + j] = sum;
    }
}
