// honest: task=square
// A buffer that grows when more is needed than before, and is never given back.
#include <cstdlib>

#include "kernel.h"

constexpr int kN = task::a_dims[0];

static void product(const float* a, const float* columns, float* out) {
  for (int i = 0; i < kN; ++i)
    for (int j = 0; j < kN; ++j) {
      float sum = 0;
      for (int k = 0; k < kN; ++k) sum += a[i * kN + k] * columns[j * kN + k];
      out[i * kN + j] = sum;
    }
}

static void transpose(const float* b, float* columns) {
  for (int i = 0; i < kN; ++i)
    for (int j = 0; j < kN; ++j) columns[j * kN + i] = b[i * kN + j];
}

static float* room(std::size_t floats) {
  static float* memory = nullptr;
  static std::size_t size = 0;
  if (floats > size) {
    std::free(memory);
    memory = static_cast<float*>(std::aligned_alloc(64, (floats * sizeof(float) + 63) / 64 * 64));
    size = floats;
  }
  return memory;
}

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  float* columns = room(kN * kN);
  transpose(b, columns);
  product(a, columns, out);
}
