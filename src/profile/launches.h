// Launches: the kernels that one call of a candidate starts on a GPU, from the device's own clock
// and the driver's knowledge of its kernels. This is what is available without hardware counters.
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
  double grid = 0;   // number of blocks
  double block = 0;  // threads per block
  double dynamic_shared = 0;
  double static_shared = 0;
  double registers = 0;                 // registers per thread
  double local_bytes = 0;               // per thread: spills and arrays indexed at run time
  double blocks_on_multiprocessor = 0;  // blocks that fit at once; 0: not known
};

// The resources of a multiprocessor.
struct MultiprocessorLimits {
  double count = 0;  // number of multiprocessors
  double threads = 0;
  double blocks = 0;
  double registers = 0;
  double shared = 0;
  double reserved_shared = 0;  // per block, reserved for the driver
};

struct CallLaunches {
  MultiprocessorLimits device;
  double call_ms = 0;  // from the first launch to the end of the last; 0: not known
  double count = 0;    // number of launches; may exceed those listed
  std::vector<Launch> launches;
};

// Parses the output of pragma-cuda-profiler and pragma_triton/observe.py, which is lines of words
// and untrusted text. An error is one line that says what is wrong with it.
[[nodiscard]] Result<CallLaunches> ParseLaunches(std::string_view text);

// The number of blocks of the launch that fit on a multiprocessor at once, by the resource that
// limits them.
struct BlockLimits {
  double registers = 0;
  double shared = 0;
  double warps = 0;
  double blocks = 0;
  [[nodiscard]] double least() const;
};
[[nodiscard]] BlockLimits LimitsOf(const Launch& launch, const MultiprocessorLimits& device);

// Returns nullptr if there is no launch.
[[nodiscard]] const Launch* LongestLaunch(const CallLaunches& call);

// Adds the metrics of the longest launch and those of all launches together.
void AddLaunchMetrics(const CallLaunches& call, MetricSet& metrics);

// Returns the kernels with their shares of the call's time, the longest first.
[[nodiscard]] std::vector<HotSpot> HotKernels(const CallLaunches& call, const std::string& file);

}  // namespace pragma
