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
  double warm_seconds = 0;  // warm-up calls are repeated for so long
  std::size_t timed = 1;    // calls in a burst; warmup + timed <= sets of the ring
  [[nodiscard]] std::size_t sets() const { return warmup + timed; }  // the first sets of the ring
};

// What the plan is based on; times are in seconds.
struct Workload {
  std::size_t sets = 2;       // number of sets of the ring
  double round_seconds = 0;   // time of one call of every side
  double upkeep_seconds = 0;  // time for one set: refill, expected values, comparisons
  CacheState cache = CacheState::kWarm;
  bool as_call = false;  // calls as a user makes them (verify/call_timing.h)
  // Their tensors should be where the last caller left them, in the caches next to the processors.
  // A burst has at most this many calls; 0: no limit.
  std::size_t most_calls = 0;
  bool on_device = false;  // processes take seconds to start, and launches overlap
};

// Number of slots that are renewed only to measure what upkeep takes.
inline constexpr std::size_t kSlotsForUpkeep = 4;

// Makes a plan that takes about `budget`, but never has less than one timed call in each of five
// processes. Cold: a burst visits the whole ring, so that each set was evicted from the caches by
// others.
[[nodiscard]] TimingPlan MakePlan(const Workload& workload, Seconds budget);

}  // namespace pragma
