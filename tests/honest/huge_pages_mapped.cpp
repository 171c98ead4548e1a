// honest: task=square
// Memory on huge pages from mmap, given back at the end of each call.
#include <cstdlib>
#include <sys/mman.h>

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

constexpr std::size_t kHuge = std::size_t{2} << 20;

static float* map() {
  void* memory = mmap(nullptr, kHuge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  madvise(memory, kHuge, MADV_HUGEPAGE);
  return static_cast<float*>(memory);
}

extern "C" void pragma_kernel(const float* a, const float* b, float* out, void* scratch) {
  float* columns = map();
  transpose(b, columns);
  product(a, columns, out);
  munmap(columns, kHuge);
}
