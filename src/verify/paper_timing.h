// PaperTiming: how the PRAGMA paper times: 5 warm-up calls, 100 repetitions on the same inputs in
// one process, their mean. It is there to set figures beside the paper's; a mean of calls in one
// process has no honest interval, so pragma's own figures are TimingCheck's.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "verify/stage.h"
#include "verify/timing_session.h"

namespace pragma {

inline constexpr int kPaperWarmups = 5;
inline constexpr int kPaperRepetitions = 100;

// Of the repetitions, in milliseconds.
struct CallTimes {
  double mean = 0;
  double std = 0;  // of the sample
  double min = 0;
  double max = 0;
  int trials = 0;
};
[[nodiscard]] CallTimes CallTimesOf(std::span<const double> seconds);

struct PaperTiming {
  std::optional<CallTimes> candidate;  // none: none was asked for, or it failed
  CallTimes eager;                     // with the allocator's defaults, as in the paper
  std::optional<CallTimes> compile;    // none: not asked for, or torch.compile failed
  std::string failure;                 // of the candidate or of torch.compile
};
// Mean over mean; none where a side is missing.
[[nodiscard]] std::optional<double> SpeedupByPaper(const std::optional<CallTimes>& baseline,
                                                   const std::optional<CallTimes>& candidate);

struct PaperSides {
  const BuiltKernel* kernel = nullptr;  // nullptr: the baselines alone
  bool compile = false;
};
// One side after the other, each alone on the machine: the caller holds the machine's lock.
[[nodiscard]] Result<PaperTiming> TimeByPaper(const TimingContext& context, const PaperSides& sides,
                                              Rng& rng);

}  // namespace pragma
