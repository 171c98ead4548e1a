// RunTiming: a whole timing session, with as many process pairs as the machine's other work makes
// necessary (docs/measuring.md).
#pragma once

#include "base/random.h"
#include "base/result.h"
#include "verify/timing_plan.h"
#include "verify/timing_run.h"
#include "verify/timing_session.h"

namespace pragma {

// Runs a whole session of ready sides. On a quiet machine it has the plan's process pairs. On a
// busy one it waits for quiet and adds process pairs, as scene.noise allows, and leaves disturbed
// ones out. The outcome's `noisy` says where that was not enough.
[[nodiscard]] Result<TimingOutcome> RunTiming(const TimingScene& scene, const TimingPlan& plan,
                                              Rng& rng);

}  // namespace pragma
