// TimingSession: paired, interleaved timing of several sides on the same secret input sets
// (docs/measuring.md). Five fresh processes of each side; bursts over the ring in secret order; the
// idle sides frozen; the parent's clock; every timed output of a candidate compared.
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
#include "core/evaluation.h"
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
  std::size_t samples = 0;                   // timed calls
  double accounted_seconds = 0;              // of all timed bursts, by our clock
  double processor_seconds = 0;              // in them, as the operating system accounts it
  // How many processors it used in the timed bursts.
  [[nodiscard]] double Processors() const {
    return accounted_seconds > 0 ? processor_seconds / accounted_seconds : 0;
  }
  [[nodiscard]] Interval Milliseconds() const;
  [[nodiscard]] Seconds Fastest() const;  // of one call, in the best burst
  // Bursts of the last process, `calls` calls in each. `doorbell`: seconds, taken off each burst.
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
  // Time of side `a` over time of side `b` (> 1: b is faster), paired by burst.
  [[nodiscard]] Interval Ratio(std::size_t a, std::size_t b) const;
};

struct TimingContext {
  Stage* stage = nullptr;
  const Jail* jail = nullptr;
  const std::vector<std::string>* libraries = nullptr;
  WorkerOptions worker;
  Seconds torch_limit{300};  // for building and compiling a Torch side, and for one of its bursts
  std::function<void(int process, int processes)> progress;
};

[[nodiscard]] Result<TimingOutcome> RunTiming(const TimingContext& context,
                                              const std::vector<Side>& sides,
                                              const TimingPlan& plan, Rng& rng);

// The least gain that counts. A challenger beats a champion when the whole interval of its ratio
// lies above 1 + kMinimumEffect.
inline constexpr double kMinimumEffect = 0.01;

struct Contest {
  std::size_t challenger = 0;  // index into the sides
  std::size_t champion = 1;
};
// As RunTiming; but a win is measured once more in fresh processes, and that second outcome, which
// no win selected, is the one returned. So one of many equal candidates hardly ever seems better.
[[nodiscard]] Result<TimingOutcome> RunContest(const TimingContext& context,
                                               const std::vector<Side>& sides,
                                               const TimingPlan& plan, const Contest& contest,
                                               Rng& rng);

}  // namespace pragma
