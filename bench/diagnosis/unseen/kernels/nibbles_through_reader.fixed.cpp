// Twin of nibbles_through_reader.cpp: the eight weights of a word are shifted out side by side.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::words_dims[0], kWords = task::words_dims[1], kColumns = task::x_dims[0], kBits = 4;

static void Unpack(const std::int32_t* words, float* weights) {
  constexpr int kEach = 32 / kBits;
  for (int w = 0; w < kWords; ++w)
#pragma omp simd
    for (int k = 0; k < kEach; ++k) weights[w * kEach + k] = static_cast<float>((words[w] >> (k * kBits) & 15) - 8);
}

extern "C" void pragma_kernel(const float* x, const std::int32_t* words, const float* scales, float* out,
                              void* /*scratch*/) {
#pragma omp parallel for
  for (int r = 0; r < kRows; ++r) {
    alignas(64) float weights[kColumns];
    Unpack(words + r * kWords, weights);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < kColumns; ++c) sum += weights[c] * x[c];
    out[r] = scales[r] * sum;
  }
}
