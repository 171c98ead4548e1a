// Stores the results of a timing session in an evaluation.
#pragma once

#include <string>
#include <vector>

#include "core/timing.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {

struct Evaluation;

// Stores the samples. `names` are those of the outcome's sides. Replaces the samples of an earlier
// attempt at the same session.
void KeepSamples(Evaluation& evaluation, const std::string& session,
                 const std::vector<std::string>& names, const TimingOutcome& outcome);

[[nodiscard]] Timing ToTiming(const SideTiming& side, int threads, const TimingPlan& plan);

}  // namespace pragma
