// TimingPlan: how many processes, bursts and calls a comparison gets (docs/measuring.md).
#pragma once

#include <cstddef>

#include "base/clock.h"
#include "core/judging.h"

namespace pragma {

struct TimingPlan {
  int processes = 5;        // pairs of fresh processes
  int bursts = 4;           // per process, 1 to 12
  std::size_t warmup = 1;   // calls after each switch of sides, not timed; 0 if there is one set
  bool first_calls = true;  // before the first burst of a process, also if no burst is warmed up
  std::size_t timed = 1;    // sets in a burst; warmup + timed <= sets of the ring
  // Calls as a user makes them: a burst is a loop of about this many seconds over a single set. 0:
  // it makes one call for each of its sets.
  double loop_seconds = 0;
  double call_seconds = 0;  // time of one call of such a loop, until it is known
  [[nodiscard]] std::size_t sets() const { return warmup + timed; }  // the first sets of the ring
};

// What the plan is based on; times are in seconds.
struct Workload {
  std::size_t sets = 2;       // number of sets of the ring
  double round_seconds = 0;   // time of one call of every side
  double upkeep_seconds = 0;  // time for one set: refill, expected values, comparisons
  CacheState cache = CacheState::kWarm;
  bool as_call = false;    // calls as a user makes them (verify/call_timing.h)
  bool on_device = false;  // processes take seconds to start, and launches overlap
};

// Number of slots that are renewed only to measure what upkeep takes.
inline constexpr std::size_t kSlotsForUpkeep = 4;

// Makes a plan that takes about `budget`, but never has less than one timed call in each of five
// processes. Cold: a burst visits the whole ring, so that each set was evicted from the caches by
// others. Calls as a user makes them: a burst is a loop over a single set.
[[nodiscard]] TimingPlan MakePlan(const Workload& workload, Seconds budget);

}  // namespace pragma
