// honest: task=maxpool
// The border is filled up with -inf.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "kernel.h"

constexpr int kPlanes = task::x_dims[0] * task::x_dims[1];
constexpr int kHeight = task::x_dims[2], kWidth = task::x_dims[3];
constexpr int kOutHeight = task::out_dims[2], kOutWidth = task::out_dims[3];

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  static float padded[kHeight + 2][kWidth + 2];
  for (auto& row : padded) std::fill(std::begin(row), std::end(row), -INFINITY);
  for (int p = 0; p < kPlanes; ++p) {
    for (int i = 0; i < kHeight; ++i)
      for (int j = 0; j < kWidth; ++j) padded[i + 1][j + 1] = x[(p * kHeight + i) * kWidth + j];
    for (int i = 0; i < kOutHeight; ++i)
      for (int j = 0; j < kOutWidth; ++j) {
        float best = -INFINITY;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) {
            const float value = padded[2 * i + a][2 * j + b];
            best = best >= value || best != best ? best : value;
          }
        out[(p * kOutHeight + i) * kOutWidth + j] = best;
      }
  }
}
