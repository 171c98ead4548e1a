// The audit of work done ahead. Timed bursts take long enough to be measured well, so their inputs
// lie there before they are asked for; a hostile kernel could read the control page and work on
// them early, or compute several calls at once. Here inputs arrive late, in two ways, and such a
// kernel takes its true time:
//
//   late burst   the inputs of all timed calls are replaced after the warm-up, while the process is
//                frozen: nothing of them can be computed before the burst.
//   single call  after a warm-up call, one fresh set is published and its call asked for at once:
//                there is nothing else to compute beside it.
//
// An undisturbed one of an honest kernel soon comes; one of a kernel that works ahead never comes.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {

struct Pace {
  bool kept = false;   // once as fast as in ordinary bursts, but for a stated allowance
  double seconds = 0;  // of one call, at best
};

struct AheadAudit {
  Pace late_burst;
  Pace single_call;  // kept by definition where a burst is one call, or inputs cannot come alone
  double ordinary_seconds = 0;  // of one call in ordinary bursts, at best
  // Ordinary bursts were slow here as well: the machine is busier than it was in the session, and
  // nothing can be told.
  bool disturbed = false;
  std::optional<TimingFailure> failed;
  [[nodiscard]] bool passed() const { return late_burst.kept && single_call.kept; }
};

// `fastest`: of one call, the best burst of a session with `plan`. The best is compared with the
// best: what is slower by other programs on one side only would hide a gain, or invent one. In
// fresh processes, after ordinary bursts in all but the first. plan.warmup must not be 0.
[[nodiscard]] Result<AheadAudit> AuditWorkAhead(const TimingContext& context, const Side& side,
                                                const TimingPlan& plan, Seconds fastest, Rng& rng);

}  // namespace pragma
