// The mode that counts how often each block of the instrumented kernel runs in one call.
#include <cstring>

#include "worker/profiler/host.h"

namespace profiler {

void Counts(Host& host) {
  auto* counts = host.Symbol<std::uint64_t>("pragma_block_counts");
  const std::uint64_t blocks = *host.Symbol<std::uint64_t>("pragma_block_count");
  host.Call();  // runs one-time initialisation
  std::memset(counts, 0, blocks * sizeof(*counts));
  host.Call();
  for (std::uint64_t i = 0; i < blocks; ++i) {
    if (counts[i] == 0) continue;
    std::fprintf(host.result(), "block %llu %llu\n", static_cast<unsigned long long>(i),
                 static_cast<unsigned long long>(counts[i]));
  }
  host.Finish();
}

}  // namespace profiler
