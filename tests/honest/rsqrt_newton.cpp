// honest: task=rms
// The twelve bits of rsqrtss and one Newton step.
#include <immintrin.h>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kColumns = task::x_dims[1];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  for (int r = 0; r < kRows; ++r) {
    const float* row = x + r * kColumns;
    float squares = 0;
    for (int c = 0; c < kColumns; ++c) squares += row[c] * row[c];
    const float v = squares / kColumns + 1e-6f;
    const float guess = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(v)));
    const float scale = guess * (1.5f - 0.5f * v * guess * guess);
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = row[c] * scale;
  }
}
