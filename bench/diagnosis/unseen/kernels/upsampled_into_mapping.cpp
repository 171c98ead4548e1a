// task: upsample
// cause: page_faults
// why: the workspace is mapped and unmapped in each call, so that each of its pages is a fault again
// pragma-flags: -O3 -march=native -fopenmp
#include <sys/mman.h>

#include <cstddef>

#include "kernel.h"

constexpr int kRows = task::x_dims[0], kLength = task::x_dims[1], kTaps = task::taps_dims[0], kFactor = 4;
constexpr int kStuffed = kLength * kFactor, kPitch = kStuffed + kTaps;
constexpr std::size_t kBytes = sizeof(float) * kRows * kPitch;

// Memory for the steps of one call.
struct Workspace {
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ~Workspace() { munmap(memory, kBytes); }
};

static void Upsample(const float* x, const float* taps, float* work, float* out) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    float* stuffed = work + r * kPitch;
    for (int t = 0; t < kLength; ++t) {
      stuffed[t * kFactor] = x[r * kLength + t];
      for (int k = 1; k < kFactor; ++k) stuffed[t * kFactor + k] = 0;
    }
    for (int k = 0; k < kTaps; ++k) stuffed[kStuffed + k] = 0;
#pragma omp simd
    for (int t = 0; t < kStuffed; ++t) {
      float sum = 0;
#pragma GCC unroll 16
      for (int k = 0; k < kTaps; ++k) sum += taps[k] * stuffed[t + k];
      out[r * kStuffed + t] = sum;
    }
  }
}

extern "C" void pragma_kernel(const float* x, const float* taps, float* out, void* /*scratch*/) {
  const Workspace workspace;
  Upsample(x, taps, static_cast<float*>(workspace.memory), out);
}
