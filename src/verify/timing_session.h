// What a timing session found: paired, interleaved times of several sides on the same secret input
// sets (docs/measuring.md). timing_run.h runs a session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/error_figures.h"
#include "core/timing.h"
#include "harness/worker_failure.h"

namespace pragma {

struct TimedBurst {
  double seconds = 0;
  std::size_t calls = 1;
};

struct SideTiming {
  std::vector<std::vector<double>> seconds;  // [process][burst], of one call, doorbell subtracted
  double doorbell_us = 0;                    // median of the empty bursts of the last process
  std::size_t samples = 0;                   // number of timed calls
  double accounted_seconds = 0;              // wall time of all timed bursts, by our clock
  double processor_seconds = 0;  // CPU time in them, as the operating system accounts it
  double page_faults = 0;        // in all timed calls
  // Average number of processors that the side used in the timed bursts.
  [[nodiscard]] double Processors() const {
    return accounted_seconds > 0 ? processor_seconds / accounted_seconds : 0;
  }
  [[nodiscard]] Interval Milliseconds() const;
  [[nodiscard]] Seconds Fastest() const;  // time of one call in the best burst
  // Adds bursts of the last process. `doorbell` is in seconds and is subtracted from each burst.
  void Add(std::span<const TimedBurst> bursts, double doorbell);
};

struct TimingFailure {
  std::size_t side = 0;
  WorkerFailure failure;
  std::optional<ErrorFigures> error;
};

struct TimingOutcome {
  std::vector<SideTiming> sides;  // a side that was left out has no times
  std::optional<TimingFailure> failed;
  std::vector<bool> disturbed;  // by process pair: other programs disturbed too many of its bursts
  Load load;
  std::string noisy;  // why the figures are uncertain; empty: they are not
  // Removes the times of process pairs that were disturbed.
  void LeaveOutDisturbed();
  // Returns the time of side `a` divided by the time of side `b`, paired by burst. Above 1, b is
  // faster.
  [[nodiscard]] Interval Ratio(std::size_t a, std::size_t b) const;
};

// The smallest gain that counts. A challenger beats a champion when the whole interval of its ratio
// is above 1 + kMinimumEffect.
inline constexpr double kMinimumEffect = 0.01;
[[nodiscard]] bool Beats(const TimingOutcome& outcome, std::size_t challenger,
                         std::size_t champion);

}  // namespace pragma
