// TimingSession: paired, interleaved timing of several sides on the same secret input sets
// (docs/measuring.md). Each side has five fresh processes. Bursts run over the ring in secret order
// while the idle sides are frozen. The parent's clock measures the time. Every timed output of a
// candidate is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/error_figures.h"
#include "core/timing.h"
#include "harness/timer_process.h"
#include "harness/worker_process.h"
#include "sandbox/jail.h"
#include "verify/stage.h"
#include "verify/timing_plan.h"

namespace pragma {

// One thing that is timed: a built candidate, or Torch.
struct Side {
  std::string name;
  const BuiltKernel* kernel = nullptr;  // nullptr: Torch
  TimerMode mode = TimerMode::kEager;
  Allocator allocator = Allocator::kDefault;
};

struct SideTiming {
  std::vector<std::vector<double>> seconds;  // [process][burst], of one call, doorbell subtracted
  double doorbell_us = 0;                    // median of the empty bursts of the last process
  std::size_t samples = 0;                   // number of timed calls
  double accounted_seconds = 0;              // wall time of all timed bursts, by our clock
  double processor_seconds = 0;  // CPU time in them, as the operating system accounts it
  // Average number of processors that the side used in the timed bursts.
  [[nodiscard]] double Processors() const {
    return accounted_seconds > 0 ? processor_seconds / accounted_seconds : 0;
  }
  [[nodiscard]] Interval Milliseconds() const;
  [[nodiscard]] Seconds Fastest() const;  // time of one call in the best burst
  // Adds bursts of the last process, with `calls` calls in each. `doorbell` is in seconds and is
  // subtracted from each burst.
  void Add(std::span<const double> bursts, double doorbell, std::size_t calls);
};

struct TimingFailure {
  std::size_t side = 0;
  WorkerFailure failure;
  std::optional<ErrorFigures> error;
};

struct TimingOutcome {
  std::vector<SideTiming> sides;
  std::optional<TimingFailure> failed;
  // Returns the time of side `a` divided by the time of side `b`, paired by burst. Above 1, b is
  // faster.
  [[nodiscard]] Interval Ratio(std::size_t a, std::size_t b) const;
};

struct TimingContext {
  Stage* stage = nullptr;
  const Jail* jail = nullptr;
  const std::vector<std::string>* libraries = nullptr;
  WorkerOptions worker;
  Seconds torch_limit{300};  // for building and compiling a Torch side, and for one burst of it
  std::function<void(int process, int processes)> progress;
};

[[nodiscard]] Result<TimingOutcome> RunTiming(const TimingContext& context,
                                              const std::vector<Side>& sides,
                                              const TimingPlan& plan, Rng& rng);

// The smallest gain that counts. A challenger beats a champion when the whole interval of its ratio
// is above 1 + kMinimumEffect.
inline constexpr double kMinimumEffect = 0.01;

struct Contest {
  std::size_t challenger = 0;  // index into the sides
  std::size_t champion = 1;
};
// Like RunTiming, but a win is measured again in fresh processes. The second outcome is returned,
// because it was not selected for being a win. One of many equal candidates therefore hardly ever
// seems better.
[[nodiscard]] Result<TimingOutcome> RunContest(const TimingContext& context,
                                               const std::vector<Side>& sides,
                                               const TimingPlan& plan, const Contest& contest,
                                               Rng& rng);

}  // namespace pragma
