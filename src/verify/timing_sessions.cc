#include "verify/timing_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "verify/ahead_audit.h"
#include "verify/baseline.h"
#include "verify/executor.h"
#include "verify/judging.h"
#include "verify/reuse_audit.h"
#include "verify/timed_sides.h"
#include "verify/timing_plan.h"
#include "verify/timing_rounds.h"
#include "verify/timing_run.h"

namespace pragma {
namespace {

// How many budgets old a session may be when a process pair is added because of other programs.
constexpr double kBudgetsOnBusyMachine = 3;
// The parts of the time that is left that a session may take as a whole, and for its bursts.
constexpr double kPartForSession = 0.15;
constexpr double kPartForBursts = 0.03;
// A device's bursts last longer (timing_plan.cc), and its contexts and checks take longer anyway.
constexpr double kDeviceBudgets = 3;
constexpr int kProcessesOfRough = 3;
constexpr double kAnyWidth = 1;

}  // namespace

std::size_t TimedSession::Find(SideRole role) const {
  const auto found = std::ranges::find(sides, role, &Side::role);
  return static_cast<std::size_t>(found - sides.begin());
}

TimingScene TimingSessions::Scene(TimedSides& sides) const {
  return {.sets = executor_.sets(),
          .sides = sides,
          .clock = executor_.clock(),
          .processors = rules_.processors,
          .doorbell = rules_.on_device ? DoorbellLimit::kTorch : DoorbellLimit::kRoundTrip,
          .progress =
              [this](int round, int rounds) {
                if (progress_) progress_(fmt::format("time {}/{}", round, rounds));
              },
          .noise = {.read = rules_.load,
                    .quiet_wait = executor_.options().judging.quiet_wait,
                    .width = executor_.options().precision != Precision::kFull
                                 ? kAnyWidth
                                 : executor_.options().judging.interval_width / 100.0},
          .limit = executor_.options().deadline.Left() * kPartForSession};
}

Result<TimingPlan> TimingSessions::Plan(const std::vector<Side>& sides, Seconds budget) {
  if (judging_.upkeep_seconds == 0) {
    judging_.upkeep_seconds = TRY(executor_.sets().Upkeep(judging_.compare_seconds, judging_.rng));
  }
  const bool as_call = sides.front().as_call;
  const auto torch = std::ranges::count_if(sides, &Side::is_torch);
  const auto kernels = static_cast<double>(sides.size()) - static_cast<double>(torch);
  const double call = judging_.call_seconds();
  const std::optional<TaskBaseline>& baseline = executor_.baseline();
  const double torch_call = baseline ? baseline->eager_ms * 1e-3 : call;
  return MakePlan({.sets = executor_.sets().sets(),
                   .round_seconds = call * kernels + torch_call * static_cast<double>(torch),
                   .upkeep_seconds = judging_.upkeep_seconds,
                   .cache = as_call && !rules_.on_device ? CacheState::kWarm
                                                         : executor_.options().judging.cache,
                   .as_call = as_call,
                   .on_device = rules_.on_device},
                  budget);
}

// On a device, processes become ready while other processes still build and check there: contexts,
// modules and first calls take longer than what is timed, and they do not need an otherwise idle
// device.
Result<TimedSession> TimingSessions::Run(const std::vector<Side>& sides, Seconds budget,
                                         int processes) {
  TimedSession session{.sides = sides, .plan = {}, .outcome = {}, .no_compile = {}};
  TimedSides& timed = *TRY(executor_.Sides(sides));
  session.outcome.failed = TRY(timed.BecomeReady(judging_));
  Result<void> ran;
  if (!session.outcome.failed) ran = RunReady(timed, budget, processes, session);
  const std::size_t compile = session.Find(SideRole::kCompile);
  if (compile < sides.size()) session.no_compile = timed.LeftOut(compile);
  executor_.EndSession();
  TRY(ran);
  return session;
}

// From here on, no other process may use the machine until the session's figures are complete.
Result<void> TimingSessions::RunReady(TimedSides& sides, Seconds budget, int processes,
                                      TimedSession& session) {
  TRY(executor_.BeAlone(judging_.evaluation));
  const VerifyOptions& options = executor_.options();
  const Seconds most = options.deadline.Left() * kPartForBursts;
  const Seconds bursts = rules_.on_device ? budget * kDeviceBudgets : budget;
  session.plan = TRY(Plan(session.sides, std::min(bursts, most)));
  if (options.precision != Precision::kFull)
    session.plan.processes = std::min(session.plan.processes, kProcessesOfRough);
  TimingScene scene = Scene(sides);
  if (processes > 0) {
    session.plan.processes = processes;
  } else {
    scene.noise.time = std::min(budget, most) * kBudgetsOnBusyMachine;
  }
  session.outcome = TRY(RunTiming(scene, session.plan, judging_.rng));
  return {};
}

Result<TimedSession> TimingSessions::Contest(const std::vector<Side>& sides, Seconds budget) {
  TimedSession first = TRY(Run(sides, budget));
  const std::size_t best = first.Find(SideRole::kBest);
  const bool won = best < sides.size() && Beats(first.outcome, 0, best);
  if (!won) return first;
  return Run(sides, budget);
}

Result<AheadAudit> TimingSessions::AuditAhead(const TimedSession& session) {
  TimedSides& candidate = *TRY(executor_.Sides({session.sides.front()}));
  const TimingScene scene = Scene(candidate);
  AheadAudit audit = TRY(
      AuditWorkAhead(scene, session.plan, session.outcome.sides.front().Fastest(), judging_.rng));
  executor_.EndSession();
  return audit;
}

Result<ReuseAudit> TimingSessions::AuditReuse(const TimedSession& session) {
  TimedSides& candidate = *TRY(executor_.Sides({session.sides.front()}));
  Rng rng(DeriveSeed(judging_.seed, "reuse"));
  ReuseAudit audit = TRY(pragma::AuditReuse(Scene(candidate), session.plan,
                                            session.outcome.sides.front().Fastest(), rng));
  executor_.EndSession();
  return audit;
}

}  // namespace pragma
