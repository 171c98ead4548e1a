// TimingSessions: runs the timing sessions of one candidate on an executor. TimingCheck decides
// what is timed and what the figures mean.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "verify/ahead_audit.h"
#include "verify/executor.h"
#include "verify/options.h"
#include "verify/reuse_audit.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"
#include "verify/timing_run.h"
#include "verify/timing_session.h"

namespace pragma {

struct Judging;

// One session: what was timed, and what it found.
struct TimedSession {
  std::vector<Side> sides;
  TimingPlan plan;
  TimingOutcome outcome;
  std::string no_compile;  // why torch.compile was left out; empty: it was not

  // Returns the index of the side, or the number of sides if there is none.
  [[nodiscard]] std::size_t Find(SideRole role) const;
  [[nodiscard]] bool Has(SideRole role) const { return Find(role) < sides.size(); }
};

class TimingSessions final {
 public:
  // All references must outlive it.
  TimingSessions(Executor& executor, Judging& judging, const VerifyProgress& progress)
      : executor_(executor), judging_(judging), progress_(progress), rules_(executor.rules()) {}

  // Runs one session. `processes`: a number of rounds of its own; 0: as the plan says.
  [[nodiscard]] Result<TimedSession> Run(const std::vector<Side>& sides, Seconds budget,
                                         int processes = 0);
  // Runs a session. A win over the present best is measured again in fresh processes. The second
  // session counts, because it was not selected for being a win. One of many equal candidates
  // therefore hardly ever seems better.
  [[nodiscard]] Result<TimedSession> Contest(const std::vector<Side>& sides, Seconds budget);
  // Audits the session's candidate for work done ahead of time. The sets must be able to be late.
  [[nodiscard]] Result<AheadAudit> AuditAhead(const TimedSession& session);
  // Audits the session's candidate for the use of results that are already there. What the audit
  // draws changes no other draw.
  [[nodiscard]] Result<ReuseAudit> AuditReuse(const TimedSession& session);

 private:
  [[nodiscard]] Result<void> RunReady(TimedSides& sides, Seconds budget, int processes,
                                      TimedSession& session);
  [[nodiscard]] Result<TimingPlan> Plan(const std::vector<Side>& sides, Seconds budget);
  [[nodiscard]] TimingScene Scene(TimedSides& sides) const;

  Executor& executor_;
  Judging& judging_;
  const VerifyProgress& progress_;
  TimingRules rules_;
};

}  // namespace pragma
