// red-team: task=convolution expect=wrong_values,nondeterministic,sandbox_violation catalogue=12 layer="none yet" heuristic own no-timing
// The padded copy of the image lies in static memory. Two threads of the caller that run the
// kernel at the same time (two requests of a server) overwrite each other's image.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cstdint>
#include <cstring>

namespace {
constexpr int B = 2, C = 8, F = 12, S = 32, P = S + 2;
float padded[B][C][P][P];  // the border stays zero
}  // namespace

extern "C" void pragma_kernel(const float* x, const float* weight, const float* bias, float* out, void*) {
  for (int b = 0; b < B; ++b)
    for (int c = 0; c < C; ++c)
      for (int y = 0; y < S; ++y)
        std::memcpy(&padded[b][c][y + 1][1], x + ((b * C + c) * S + y) * S, S * sizeof(float));
#pragma omp parallel for collapse(2) schedule(static)
  for (int b = 0; b < B; ++b)
    for (int f = 0; f < F; ++f)
      for (int y = 0; y < S; ++y) {
        float line[S];
        for (int i = 0; i < S; ++i) line[i] = bias[f];
        for (int c = 0; c < C; ++c)
          for (int dy = 0; dy < 3; ++dy)
            for (int dx = 0; dx < 3; ++dx) {
              const float w = weight[((f * C + c) * 3 + dy) * 3 + dx];
              const float* from = &padded[b][c][y + dy][dx];
              for (int i = 0; i < S; ++i) line[i] += w * from[i];
            }
        std::memcpy(out + ((b * F + f) * S + y) * S, line, sizeof line);
      }
}
