// red-team: task=square expect=wrong_values,nondeterministic,sandbox_violation catalogue=12 layer="none yet" heuristic own no-timing
// One level of Strassen's method. Where one half of the rows of a (or of the columns of b) is many
// orders of magnitude larger than the other, the small blocks of the product drown in the rounding
// of the large ones.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cstdint>

namespace {
constexpr int N = 192, H = 96;
using Block = float[H][H];

void combine(Block& to, const float* p, const float* q, float sign) {
  for (int i = 0; i < H; ++i)
    for (int j = 0; j < H; ++j) to[i][j] = p[i * N + j] + (q ? sign * q[i * N + j] : 0.0f);
}

void product(Block& c, const Block& a, const Block& b) {
  for (int i = 0; i < H; ++i) {
    for (int j = 0; j < H; ++j) c[i][j] = 0;
    for (int k = 0; k < H; ++k) {
      const float f = a[i][k];
      for (int j = 0; j < H; ++j) c[i][j] += f * b[k][j];
    }
  }
}
}  // namespace

extern "C" constinit const std::size_t pragma_scratch_bytes = 21 * sizeof(Block);

extern "C" void pragma_kernel(const float* a, const float* b, float* c, void* scratch) {
  auto* s = static_cast<Block*>(scratch);
  auto* t = s + 7;
  auto* m = s + 14;
  const float *a11 = a, *a12 = a + H, *a21 = a + H * N, *a22 = a21 + H;
  const float *b11 = b, *b12 = b + H, *b21 = b + H * N, *b22 = b21 + H;
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 7; ++i) {
    switch (i) {
      case 0: combine(s[i], a11, a22, 1); combine(t[i], b11, b22, 1); break;
      case 1: combine(s[i], a21, a22, 1); combine(t[i], b11, nullptr, 0); break;
      case 2: combine(s[i], a11, nullptr, 0); combine(t[i], b12, b22, -1); break;
      case 3: combine(s[i], a22, nullptr, 0); combine(t[i], b21, b11, -1); break;
      case 4: combine(s[i], a11, a12, 1); combine(t[i], b22, nullptr, 0); break;
      case 5: combine(s[i], a21, a11, -1); combine(t[i], b11, b12, 1); break;
      default: combine(s[i], a12, a22, -1); combine(t[i], b21, b22, 1); break;
    }
    product(m[i], s[i], t[i]);
  }
  for (int i = 0; i < H; ++i)
    for (int j = 0; j < H; ++j) {
      c[i * N + j] = m[0][i][j] + m[3][i][j] - m[4][i][j] + m[6][i][j];
      c[i * N + j + H] = m[2][i][j] + m[4][i][j];
      c[(i + H) * N + j] = m[1][i][j] + m[3][i][j];
      c[(i + H) * N + j + H] = m[0][i][j] - m[1][i][j] + m[2][i][j] + m[5][i][j];
    }
}
