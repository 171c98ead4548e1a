// Launches: what one call of a candidate starts on a GPU, by the device's own clock and the
// driver's knowledge of its kernels: what there is without hardware counters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/profile.h"
#include "profile/metrics.h"

namespace pragma {

struct Launch {
  std::string kernel;  // demangled
  double ms = 0;
  double grid = 0;   // blocks
  double block = 0;  // threads
  double dynamic_shared = 0;
  double static_shared = 0;
  double registers = 0;    // of a thread
  double local_bytes = 0;  // of a thread: spills and arrays that are indexed at run time
  double blocks_on_multiprocessor = 0;  // that fit at once; 0: not known
};

// What a multiprocessor has room for.
struct MultiprocessorLimits {
  double count = 0;  // of multiprocessors
  double threads = 0;
  double blocks = 0;
  double registers = 0;
  double shared = 0;
  double reserved_shared = 0;  // of each block, for the driver
};

struct CallLaunches {
  MultiprocessorLimits device;
  double call_ms = 0;  // from the first launch to the end of the last; 0: not known
  double count = 0;    // may be more than are listed
  std::vector<Launch> launches;
};

// As pragma-cuda-profiler and pragma_triton/observe.py write them: lines of words; foreign text. An
// error is one line that says what is wrong with it.
[[nodiscard]] Result<CallLaunches> ParseLaunches(std::string_view text);

// Blocks of the launch that fit on a multiprocessor at once, by what limits them.
struct BlockLimits {
  double registers = 0;
  double shared = 0;
  double warps = 0;
  double blocks = 0;
  [[nodiscard]] double least() const;
};
[[nodiscard]] BlockLimits LimitsOf(const Launch& launch, const MultiprocessorLimits& device);

// nullptr: there is none.
[[nodiscard]] const Launch* LongestLaunch(const CallLaunches& call);

// Metrics of the longest launch, and of all together.
void AddLaunchMetrics(const CallLaunches& call, MetricSet& metrics);

// Kernels by their share of the call, the longest first.
[[nodiscard]] std::vector<HotSpot> HotKernels(const CallLaunches& call, const std::string& file);

}  // namespace pragma
