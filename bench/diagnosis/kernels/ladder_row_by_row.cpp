// task: ladder
// cause: dependency_chain
// why: one row's channels, a single vector, go through time alone: each of nine operations of a step waits for the one before
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kRows = task::x_dims[0], kSteps = task::x_dims[1], kChannels = task::x_dims[2];

using Channels = float __attribute__((vector_size(32)));
static_assert(kChannels * sizeof(float) == sizeof(Channels));

template <int kGroup>
static void Rows(const Channels* x, Channels* out) {
  Channels y[kGroup][4] = {};
  for (int t = 0; t < kSteps; ++t) {
#pragma GCC unroll 8
    for (int g = 0; g < kGroup; ++g) {
      Channels u = x[g * kSteps + t] - 0.5F * y[g][3];
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) {
        y[g][k] += 0.25F * (u - y[g][k]);
        u = y[g][k];
      }
      out[g * kSteps + t] = u;
    }
  }
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  constexpr int kGroup = 1;  // rows that go through time side by side
#pragma omp parallel for
  for (int r = 0; r < kRows; r += kGroup) {
    const int first = r * kSteps * kChannels;
    Rows<kGroup>(reinterpret_cast<const Channels*>(x + first),
                 reinterpret_cast<Channels*>(out + first));
  }
}
