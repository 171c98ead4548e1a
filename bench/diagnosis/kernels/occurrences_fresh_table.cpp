// task: occurrences
// cause: page_faults
// why: a table of 64 MiB from calloc in every call, touched in 8192 random places: nearly each touch is a page fault
// pragma-flags: -O3 -march=native
#include <cstdint>
#include <cstdlib>

#include "kernel.h"

constexpr int kCount = task::ids_dims[0];
constexpr std::int64_t kEntries = std::int64_t{1} << 24;

extern "C" void pragma_kernel(const std::int64_t* ids, std::int32_t* out, void* /*scratch*/) {
  auto* counts = static_cast<std::int32_t*>(std::calloc(kEntries, sizeof(std::int32_t)));
  for (int i = 0; i < kCount; ++i) ++counts[ids[i]];
  for (int i = 0; i < kCount; ++i) out[i] = counts[ids[i]];
  std::free(counts);
}
