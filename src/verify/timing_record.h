// Stores the results of a timing session in an evaluation.
#pragma once

#include <string>
#include <vector>

#include "core/timing.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {

struct Evaluation;

// Returns the names of the sides as used in the records: "eager (keep)". The allocator is named
// where sides may differ in it.
[[nodiscard]] std::vector<std::string> NamesOf(const std::vector<Side>& sides, bool allocators);

// Stores the samples. `names` are those of the outcome's sides. Replaces the samples of an earlier
// attempt at the same session.
void KeepSamples(Evaluation& evaluation, const std::string& session,
                 const std::vector<std::string>& names, const TimingOutcome& outcome);

[[nodiscard]] Timing ToTiming(const SideTiming& side, int threads, const TimingPlan& plan);

}  // namespace pragma
