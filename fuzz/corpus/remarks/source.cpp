#include "kernel.h"
static float f(const float* p, int n);
extern "C" void pragma_kernel(const float* x, float* out, void*) {
  #pragma omp parallel for
  for (int i = 0; i < 64; ++i) {
    float best = -1;
    int at = 0;
    for (int j = 0; j < 16; ++j) if (x[i * 16 + j] > best) { best = x[i * 16 + j]; at = j; }
    out[i] = best + at + f(x, i);
  }
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j)
      out[j] += x[i * 64 + j] * 0.5f;
  #pragma omp simd
  for (int i = 0; i < 64; ++i) out[i] = out[(i * 7) & 63];
}
static __attribute__((noinline)) float f(const float* p, int n) { float s = 0; for (int i = 0; i < n; ++i) s += p[i]; return s; }
