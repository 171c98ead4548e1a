// task: hashes
// cause: div_sqrt
// why: a 64-bit integer division for each id and hash function: the divider is busy all the time
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
    for (int i = 0; i < kIds; ++i) to[i] = (ids[i] & 0xFFFFF) * factor % count;
  }
}
