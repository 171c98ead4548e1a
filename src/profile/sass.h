// Sass: the instructions of compiled GPU kernels, as cuobjdump lists them. This is what is known
// about a kernel without running it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/metrics.h"

namespace pragma {

// Instruction counts of a kernel's code by kind. These are static counts: a loop body counts once.
struct SassMix {
  std::string kernel;  // demangled
  int instructions = 0;
  int tensor = 0;  // matrix products on tensor cores
  int fused = 0;   // fp32 fused multiply-adds
  int multiplies = 0;
  int additions = 0;
  int global_loads = 0;
  double load_bytes = 0;  // per lane, all global loads together
  int local = 0;          // loads and stores of local memory: spills and local arrays
  int atomics = 0;        // on global memory
  int barriers = 0;       // block-wide barriers
};

// Returns the counts of all functions in the listing. The text is untrusted, and unreadable parts
// are skipped.
[[nodiscard]] std::vector<SassMix> ParseSass(std::string_view listing);

void AddSassMetrics(const SassMix& mix, MetricSet& metrics);

}  // namespace pragma
