// red-team: task=waves expect=implausible,wrong_values,sandbox_violation,nondeterministic catalogue=24 layer="hard bound" absolute
// Computes ahead and then returns at once, faster than the bytes could move.
#include <cmath>

#include "kernel.h"

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void honest(const float* x, float* out) {
  for (int i = 0; i < kCount; ++i) {
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }
}

// Pointers are the same in every round, so the sets become known one by one.
static const float* known_x[64];
static float* known_out[64];
static volatile float known_first[64];
static volatile int known = 0;

static int index_of(const float* x, float* out) {
  for (int i = 0; i < known; ++i)
    if (known_x[i] == x) return i;
  known_x[known] = x;
  known_out[known] = out;
  known_first[known] = x[0] + 1;  // not computed yet
  known = known + 1;
  return known - 1;
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  const int mine = index_of(x, out);
  if (known_first[mine] == x[0]) return;

  for (int i = 0; i < known; ++i) {
    if (known_first[i] == known_x[i][0]) continue;
    honest(known_x[i], known_out[i]);
    known_first[i] = known_x[i][0];
  }
}
