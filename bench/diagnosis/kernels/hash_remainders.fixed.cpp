// Twin of hash_remainders.cpp: each function's reciprocal is computed once, and the quotient corrected by one
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kIds = task::ids_dims[0], kFunctions = task::factors_dims[0];

extern "C" void pragma_kernel(const std::int64_t* ids, const std::int64_t* factors,
                              const std::int64_t* buckets, std::int64_t* out, void* /*scratch*/) {
#pragma omp parallel for
  for (int f = 0; f < kFunctions; ++f) {
    const std::int64_t factor = factors[f] & 0x3FF, count = (buckets[f] & 0x7FFF) + 1;
    std::int64_t* to = out + static_cast<std::int64_t>(f) * kIds;
    const double reciprocal = 1.0 / static_cast<double>(count);
    for (int i = 0; i < kIds; ++i) {
      const std::int64_t value = (ids[i] & 0xFFFFF) * factor;
      const auto quotient = static_cast<std::int64_t>(static_cast<double>(value) * reciprocal);
      std::int64_t rest = value - quotient * count;
      rest += rest < 0 ? count : 0;
      rest -= rest >= count ? count : 0;
      to[i] = rest;
    }
  }
}
