// task: linear_int4
// cause: not_vectorised
// why: four-bit weights come one by one from a reader of bits with a state, which keeps the loop that unpacks a row scalar
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kRows = task::words_dims[0], kWords = task::words_dims[1], kColumns = task::x_dims[0], kBits = 4;

// Numbers of any width, lowest bits first.
class BitReader {
 public:
  explicit BitReader(const std::int32_t* words) : next_(words) {}

  int Take(int width) {
    if (left_ < width) {
      bits_ |= std::uint64_t{static_cast<std::uint32_t>(*next_++)} << left_;
      left_ += 32;
    }
    const int value = static_cast<int>(bits_ & ((1U << width) - 1));
    bits_ >>= width;
    left_ -= width;
    return value;
  }

 private:
  const std::int32_t* next_;
  std::uint64_t bits_ = 0;
  int left_ = 0;
};

static void Unpack(const std::int32_t* words, float* weights) {
  BitReader reader(words);
  for (int c = 0; c < kColumns; ++c) weights[c] = static_cast<float>(reader.Take(kBits) - 8);
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
