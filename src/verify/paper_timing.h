// PaperTiming: times as the PRAGMA paper does: 5 warm-up calls, then 100 repetitions on the same
// inputs in one process, of which the mean is taken. It exists to compare figures with the paper's.
// A mean of calls in one process has no honest interval, so pragma's own figures come from
// TimingCheck.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"

namespace pragma {

struct HostParts;  // host_calls.h

inline constexpr int kPaperWarmups = 5;
inline constexpr int kPaperRepetitions = 100;

// Statistics of the repetitions, in milliseconds.
struct CallTimes {
  double mean = 0;
  double std = 0;  // standard deviation of the sample
  double min = 0;
  double max = 0;
  int trials = 0;
};
[[nodiscard]] CallTimes CallTimesOf(std::span<const double> seconds);

struct PaperTiming {
  std::optional<CallTimes> candidate;  // not set: no candidate was given, or it failed
  CallTimes eager;                     // with the default allocator, as in the paper
  std::optional<CallTimes> compile;    // not set: not requested, or torch.compile failed
  std::string failure;                 // failure of the candidate or of torch.compile
};
// Returns the ratio of the means, or nullopt where a side is missing.
[[nodiscard]] std::optional<double> SpeedupByPaper(const std::optional<CallTimes>& baseline,
                                                   const std::optional<CallTimes>& candidate);

struct PaperSides {
  const BuiltKernel* kernel = nullptr;  // nullptr: times only the baselines
  bool compile = false;
};
// Times one side after the other, each alone on the machine. The caller holds the machine's lock.
[[nodiscard]] Result<PaperTiming> TimeByPaper(const HostParts& parts, const PaperSides& sides,
                                              Rng& rng);

}  // namespace pragma
