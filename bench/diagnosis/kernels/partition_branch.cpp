// task: partition
// cause: branch_mispredict
// why: to which side an element goes is a coin's toss, and the branch on it is mispredicted every other time
// pragma-flags: -O3 -march=native -fopenmp
#include <cstring>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

static void Partition(const float* x, float* out) {
  float rest[kColumns + 1];
  int front = 0, back = 0;
  for (int c = 0; c < kColumns; ++c) {
    if (x[c] > 0)
      out[front++] = x[c];
    else
      rest[back++] = x[c];
  }
  std::memcpy(out + front, rest, sizeof(float) * static_cast<unsigned>(back));
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) Partition(x + r * kColumns, out + r * kColumns);
}
