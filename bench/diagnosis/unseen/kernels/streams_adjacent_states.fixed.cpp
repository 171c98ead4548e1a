// Twin of streams_adjacent_states.cpp: each state has lines of its own.
// pragma-flags: -O3 -march=native -fopenmp
#include <cstdint>

#include "kernel.h"

constexpr int kStreams = task::seeds_dims[0], kDraws = task::draws;

struct alignas(128) Stream {
  std::uint64_t state;

  std::int64_t Draw() {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>(state >> 33);
  }
};

extern "C" void pragma_kernel(const std::int64_t* seeds, std::int64_t* out, void* /*scratch*/) {
  alignas(128) Stream streams[kStreams];
  for (int s = 0; s < kStreams; ++s) streams[s].state = static_cast<std::uint64_t>(seeds[s]);
#pragma omp parallel for
  for (int s = 0; s < kStreams; ++s)
    for (int t = 0; t < kDraws; ++t) out[s * kDraws + t] = streams[s].Draw();
}
