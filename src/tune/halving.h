// Halving: finds which of many variants is faster than the default within a time limit. It is pure:
// the caller measures.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/timing.h"

namespace pragma {

// One round of measurements: every contestant and the default, interleaved, in fresh processes.
struct RoundRequest {
  std::vector<std::size_t> contestants;
  int processes = 0;   // number per contestant
  double seconds = 0;  // hard limit: the round ends early, with fewer processes
};

struct RoundTimes {
  // For each contestant, in the requested order, one value per process: log(time of the default /
  // its own time).
  std::vector<std::vector<double>> logs;
  std::vector<std::string> failures;  // by contestant; not empty: it failed while being timed
  double seconds = 0;                 // duration of the round
};

using MeasureRound = std::function<Result<RoundTimes>(const RoundRequest&)>;

struct HalvingLimits {
  double seconds = 0;          // limit for everything
  double process_seconds = 0;  // initial estimate per process of a contestant, with its share of
                               // the default's time
  double minimum_effect = 0;   // smallest gain that counts
};

// The final result of one contestant.
struct Standing {
  std::vector<double> logs;                             // values of all rounds
  std::string failure;                                  // not empty: it failed
  [[nodiscard]] std::optional<Interval> ratio() const;  // none with fewer than two processes
};

struct HalvingResult {
  std::vector<Standing> standings;    // by contestant
  std::optional<std::size_t> winner;  // none: no contestant beats the default
  std::optional<Interval> confirmed;  // the winner's ratio in separate processes, run after it led
  int rounds = 0;
  double seconds = 0;
  bool complete = true;  // false: a contestant was left out because time ran out
};

// Runs the rounds. The first round gives every contestant a few processes, and later rounds give
// more processes to those that remain. After each round only the better half remains. In the first
// round, whose intervals are wide, contestants whose interval overlaps the leader's remain too. A
// contestant that is clearly behind the leader is dropped at once. The last one is measured once
// more against the default alone. It wins if its whole interval is above 1 + minimum_effect, so
// that luck in the rounds does not decide.
[[nodiscard]] Result<HalvingResult> SuccessiveHalving(std::size_t contestants,
                                                      const HalvingLimits& limits,
                                                      const MeasureRound& measure);

}  // namespace pragma
