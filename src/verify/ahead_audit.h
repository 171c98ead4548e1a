// The audit of work done ahead of time. Timed bursts must take long enough to be measured well, so
// their inputs are in memory before the calls are requested. A hostile kernel could read the
// control page and work on these inputs early, or compute several calls at once. In this audit
// inputs arrive late, in two ways, so that such a kernel takes its true time:
//
//   late burst   the inputs of all timed calls are replaced after the warm-up, while the process is
//                frozen: nothing that depends on them can be computed before the burst.
//   single call  after a warm-up call, one fresh set is published and its call is requested at
//   once:
//                there is no other call to compute along with it.
//
// An honest kernel soon gets an undisturbed measurement. A kernel that works ahead never does.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "verify/timing_plan.h"
#include "verify/timing_run.h"
#include "verify/timing_session.h"

namespace pragma {

struct Pace {
  bool kept = false;   // the call was once as fast as in ordinary bursts, within a stated allowance
  double seconds = 0;  // seconds of one call, at best
};

struct AheadAudit {
  Pace late_burst;
  Pace single_call;  // kept by definition where a burst is one call or where inputs cannot arrive
                     // alone
  double ordinary_seconds = 0;  // seconds of one call in ordinary bursts, at best
  // Ordinary bursts were slow here as well: the machine is busier than it was in the session, so
  // the audit cannot decide.
  bool disturbed = false;
  std::optional<TimingFailure> failed;
  [[nodiscard]] bool passed() const { return late_burst.kept && single_call.kept; }
};

// Runs the audit on a scene whose only side is the candidate and whose sets can arrive late.
// `fastest` is the time of one call in the best burst of a session with `plan`. The best is
// compared with the best: a slowdown caused by other programs on one side only would hide a gain or
// invent one. The audit uses fresh processes; in all but the first, ordinary bursts come first.
// plan.warmup must not be 0.
[[nodiscard]] Result<AheadAudit> AuditWorkAhead(const TimingScene& scene, const TimingPlan& plan,
                                                Seconds fastest, Rng& rng);

}  // namespace pragma
