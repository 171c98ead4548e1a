// Sass: the instructions of compiled GPU kernels, as cuobjdump lists them: what is known of a
// kernel without running it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/metrics.h"

namespace pragma {

// How often what stands in a kernel's code; loops count once.
struct SassMix {
  std::string kernel;  // demangled
  int instructions = 0;
  int tensor = 0;  // matrix products of the tensor cores
  int fused = 0;   // fp32
  int multiplies = 0;
  int additions = 0;
  int global_loads = 0;
  double load_bytes = 0;  // of a lane, all global loads together
  int local = 0;          // loads and stores of local memory: spills and local arrays
  int atomics = 0;        // on global memory
  int barriers = 0;       // of the block
};

// Of all functions in the listing; foreign text, what cannot be read is passed over.
[[nodiscard]] std::vector<SassMix> ParseSass(std::string_view listing);

void AddSassMetrics(const SassMix& mix, MetricSet& metrics);

}  // namespace pragma
