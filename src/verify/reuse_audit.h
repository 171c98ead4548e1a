// The audit of results that are already there. In a program, malloc gives a call the block that the
// call before returned. If the inputs are the same, it still holds the right results. A hostile
// kernel could look at a few of them, or at their sum, and return. The outputs of timed bursts hold
// poison, so there such a kernel does its work. This audit times calls on the same inputs in pairs
// of two forms, in secret order:
//
//   poison  the outputs hold random bytes.
//   right   the outputs hold what the kernel itself wrote there in an earlier call.
//
// Pragma writes both by the same copies, so the caches are in the same state. Both forms therefore
// take an honest kernel the same time, and other programs disturb one as often as the other.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "verify/timing_plan.h"
#include "verify/timing_run.h"
#include "verify/timing_session.h"

namespace pragma {

struct ReuseAudit {
  // Calls took as long on right results as on poison, within a stated factor.
  bool passed = false;
  // Seconds of one call in the fastest burst of the last process, by what it found in its outputs.
  // Doorbell included.
  double poison_seconds = 0;
  double right_seconds = 0;
  std::optional<TimingFailure> failed;
};

// Runs the audit on a scene whose only side is a candidate whose outputs are memory that pragma
// shares. `fastest` is the time of one call in the best burst of a session with `plan`. Fresh
// processes repeat a test that fails.
[[nodiscard]] Result<ReuseAudit> AuditReuse(const TimingScene& scene, const TimingPlan& plan,
                                            Seconds fastest, Rng& rng);

}  // namespace pragma
