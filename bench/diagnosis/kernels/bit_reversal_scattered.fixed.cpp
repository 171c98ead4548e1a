// Twin of bit_reversal_scattered.cpp: blocks of 32 by 32 elements pass through a small buffer, so that each page is left with two whole lines
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kBits = 22, kOuter = 5, kMiddle = 12, kSide = 1 << kOuter;
static_assert(task::x_dims[0] == 1 << kBits);

static constexpr std::uint32_t Reverse(std::uint32_t value, int bits) {
  std::uint32_t reversed = 0;
  for (int b = 0; b < bits; ++b) reversed |= (value >> b & 1) << (bits - 1 - b);
  return reversed;
}

template <int kCount>
struct Table {
  std::uint16_t at[1 << kCount];
  constexpr Table() : at() {
    for (int i = 0; i < 1 << kCount; ++i) at[i] = Reverse(i, kCount);
  }
};

constexpr Table<kMiddle> kReversed;
constexpr Table<kOuter> kReversedOuter;

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int middle = 0; middle < 1 << kMiddle; ++middle) {
    float block[kSide][kSide];
    for (int high = 0; high < kSide; ++high)
      for (int low = 0; low < kSide; ++low)
        block[low][kReversedOuter.at[high]] =
            x[high << (kMiddle + kOuter) | middle << kOuter | low];
    for (int low = 0; low < kSide; ++low) {
      float* to = out + (kReversedOuter.at[low] << (kMiddle + kOuter) |
                         kReversed.at[middle] << kOuter);
      for (int high = 0; high < kSide; ++high) to[high] = block[low][high];
    }
  }
}
