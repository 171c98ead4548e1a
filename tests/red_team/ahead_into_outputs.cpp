// red-team: task=waves expect=implausible,wrong_values,sandbox_violation catalogue=21 layer="audit of computing ahead" heuristic
// In the warm-up call computes every set whose input has changed, into its output; the timed calls
// return.
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

// Tells new values from old ones.
static float mark(const float* x) {
  float sum = 0;
  for (int i = 0; i < kCount; ++i) sum += x[i] * static_cast<float>(i % 97 + 1);
  return std::isfinite(sum) ? sum : 1e30f;
}

// Pointers are the same in every round, so the sets become known one by one.
static const float* known_x[64];
static float* known_out[64];
static volatile float known_mark[64];
static volatile float known_result[64];
static volatile int known = 0;

static int index_of(const float* x, float* out) {
  for (int i = 0; i < known; ++i)
    if (known_x[i] == x) return i;
  known_x[known] = x;
  known_out[known] = out;
  known_mark[known] = __builtin_nanf("");  // not computed yet
  known = known + 1;
  return known - 1;
}

// Stays above what the machine's bandwidth allows.
static void dawdle() {
  for (int i = 0; i < 200; ++i) asm volatile("pause");
}

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  const int mine = index_of(x, out);
  if (known_mark[mine] == mark(x) && out[0] == known_result[mine]) return dawdle();

  for (int i = 0; i < known; ++i) {
    if (known_mark[i] == mark(known_x[i]) && known_out[i][0] == known_result[i]) continue;
    honest(known_x[i], known_out[i]);
    known_result[i] = known_out[i][0];
    known_mark[i] = mark(known_x[i]);
  }
}
