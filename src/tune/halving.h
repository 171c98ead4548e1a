// Halving: which of many variants is faster than the default, within a time limit. Pure: whoever
// calls it measures.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/evaluation.h"

namespace pragma {

// One round of measuring: each contestant and the default, interleaved, in fresh processes.
struct RoundRequest {
  std::vector<std::size_t> contestants;
  int processes = 0;   // of each contestant
  double seconds = 0;  // never more: it ends early, with fewer processes
};

struct RoundTimes {
  // By contestant as asked for, one for each process: log(time of the default / its own).
  std::vector<std::vector<double>> logs;
  std::vector<std::string> failures;  // by contestant; not empty: it failed while it was timed
  double seconds = 0;                 // that the round took
};

using MeasureRound = std::function<Result<RoundTimes>(const RoundRequest&)>;

struct HalvingLimits {
  double seconds = 0;          // for everything
  double process_seconds = 0;  // a first guess: one process of one contestant, the default's share
                               // included
  double minimum_effect = 0;   // the least gain that counts
};

// What is known of one contestant in the end.
struct Standing {
  std::vector<double> logs;                             // of all rounds
  std::string failure;                                  // not empty: it failed
  [[nodiscard]] std::optional<Interval> ratio() const;  // none with fewer than two processes
};

struct HalvingResult {
  std::vector<Standing> standings;    // by contestant
  std::optional<std::size_t> winner;  // none: nothing beats the default
  std::optional<Interval> confirmed;  // the winner's ratio in processes of its own, after it led
  int rounds = 0;
  double seconds = 0;
  bool complete = true;  // false: somebody was left out for want of time
};

// Rounds: first a few processes for everybody, then more for those that stay. After each round only
// the better half stays; in the first, whose intervals are wide, also whoever's interval overlaps
// the leader's. Who is clearly behind the leader goes at once. The last one is measured once more
// against the default alone, and wins when that whole interval lies above 1 + minimum_effect: so
// luck in the rounds does not decide.
[[nodiscard]] Result<HalvingResult> SuccessiveHalving(std::size_t contestants,
                                                      const HalvingLimits& limits,
                                                      const MeasureRound& measure);

}  // namespace pragma
