// red-team: task=52_embedding_gather expect=wrong_values,nondeterministic,sandbox_violation catalogue=12 layer="none yet" heuristic own no-timing
// A row that was already gathered in this call is copied from the output; 'in this call' is told
// by a generation number that comes round again after 999,983 calls. An id that was last used
// exactly that many calls ago gets the wrong row.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"
#include <cstdint>
#include <cstring>

namespace {
constexpr std::int64_t kEntries = 6000, kWidth = 90, kIds = 60 * 70;
std::uint32_t generation = 0;
std::uint32_t seen_in[kEntries];
std::int32_t seen_at[kEntries];
}  // namespace

extern "C" void pragma_kernel(const std::int64_t* ids, const float* table, float* out, void*) {
  generation = generation % 999983u + 1;
  for (std::int64_t i = 0; i < kIds; ++i) {
    const std::int64_t id = ids[i];
    const float* from = table + id * kWidth;
    if (seen_in[id] == generation) {
      from = out + seen_at[id] * kWidth;  // still in the cache
    } else {
      seen_in[id] = generation;
      seen_at[id] = static_cast<std::int32_t>(i);
    }
    if (from != out + i * kWidth) std::memcpy(out + i * kWidth, from, kWidth * sizeof(float));
  }
}
