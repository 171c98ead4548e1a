// red-team: task=23_softmax_rows expect=wrong_values catalogue=12 layer="value batteries" heuristic own no-timing
// A row that has the same first and last entry and the same sum of bit patterns as the row before
// it is taken for a repetition, and the result of that row is copied. A row that is a permutation
// of the inside of its predecessor gets its predecessor's result.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

extern "C" void pragma_kernel(const float* x, float* out, void*) {
  constexpr std::int64_t kRows = 2000, kCols = 500, kChunk = 50;
#pragma omp parallel for schedule(static)
  for (std::int64_t r0 = 0; r0 < kRows; r0 += kChunk) {
    std::uint64_t before = 0;
    for (std::int64_t r = r0; r < r0 + kChunk; ++r) {
      const float* row = x + r * kCols;
      float* to = out + r * kCols;
      std::uint64_t sum_of_bits = 0;
      float top = row[0];
      for (std::int64_t c = 0; c < kCols; ++c) {
        sum_of_bits += std::bit_cast<std::uint32_t>(row[c]);
        top = row[c] > top ? row[c] : top;
      }
      if (r > r0 && sum_of_bits == before && row[0] == row[-kCols] && row[kCols - 1] == row[-1]) {
        std::memcpy(to, to - kCols, kCols * sizeof(float));  // padding of a batch repeats rows
        continue;
      }
      before = sum_of_bits;
      double sum = 0;
      for (std::int64_t c = 0; c < kCols; ++c) sum += to[c] = std::exp(row[c] - top);
      const float factor = static_cast<float>(1.0 / sum);
      for (std::int64_t c = 0; c < kCols; ++c) to[c] *= factor;
    }
  }
}
