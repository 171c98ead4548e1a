// task: bit_reversal
// cause: tlb
// also: strided_access
// why: neighbours in the input go to 2048 different pages of the output, more than the first level of the TLB holds; that they also are different lines is the same stride
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kBits = 22, kHigh = 11;
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

constexpr Table<kHigh> kReversed;

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int high = 0; high < 1 << kHigh; ++high)
    for (int low = 0; low < 1 << kHigh; ++low)
      out[kReversed.at[low] << kHigh | kReversed.at[high]] = x[high << kHigh | low];
}
