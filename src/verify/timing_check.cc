#include "verify/timing_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/evaluation.h"
#include "machine/machine.h"
#include "task/torch_server.h"
#include "verify/ahead_audit.h"
#include "verify/baseline.h"
#include "verify/bounds.h"
#include "verify/executor.h"
#include "verify/judging.h"
#include "verify/noise.h"
#include "verify/options.h"
#include "verify/reuse_audit.h"
#include "verify/timed_sides.h"
#include "verify/timing_record.h"
#include "verify/timing_session.h"
#include "verify/timing_sessions.h"

namespace pragma {
namespace {

constexpr int kLooksAtMachine = 4;
constexpr int kBaselineProcesses = 3;
// With less time left than this, eager is timed as it is usually faster (memory that is freed is
// kept), or torch.compile is left out.
constexpr Seconds kLeastForBaseline{25};
constexpr Seconds kLeastForCompile{40};
constexpr int kSessions = 3;  // maximum, if the machine is busier in the audit than before it

class TimingCheck final {
 public:
  TimingCheck(Executor& executor, Judging& judging, const VerifyProgress& progress)
      : executor_(executor),
        judging_(judging),
        sessions_(executor, judging, progress),
        rules_(executor.rules()),
        baseline_(executor.baseline()) {}

  Result<void> Run(const TimingWish& wish);
  Result<void> RunCompiled();

 private:
  Result<void> ChooseBaseline();
  Result<void> TimeOnce(const TimingWish& wish);
  Result<bool> Plausible();
  [[nodiscard]] bool BelowBound() const;
  void RejectImplausible();
  bool NoteFailure(const TimingOutcome& outcome);
  Result<void> NoteSession(const TimedSession& session);
  void Record(const TimedSession& session);
  void RecordCompile(const TimedSession& session, std::size_t compile);
  void ForgetTiming();
  Result<bool> AuditAhead(const TimedSession& session, bool last);
  void RejectAhead(const AheadAudit& audit);
  Result<void> AuditReuse(const TimedSession& session);
  [[nodiscard]] bool Audits(const TimedSession& session) const;
  void NoteBusy();
  [[nodiscard]] Allocator EagerAllocator() const {
    if (!chooses_allocator()) return Allocator::kDefault;
    return baseline_ ? baseline_->eager : Allocator::kKeep;
  }
  [[nodiscard]] bool TimeFor(Seconds least) const {
    return executor_.options().deadline.Left() >= least;
  }
  [[nodiscard]] Seconds budget() const { return executor_.options().timing_budget; }
  [[nodiscard]] const Task& task() const { return executor_.sets().task(); }
  [[nodiscard]] bool chooses_allocator() const { return rules_.allocators.size() > 1; }

  Executor& executor_;
  Judging& judging_;
  TimingSessions sessions_;
  TimingRules rules_;
  std::optional<TaskBaseline>& baseline_;
};

Result<void> TimingCheck::Run(const TimingWish& wish) {
  if (chooses_allocator()) {
    TRY(ChooseBaseline());
    judging_.evaluation.environment.allocator = AllocatorName(EagerAllocator());
  }
  TRY(TimeOnce(wish));
  if (judging_.failed() || TRY(Plausible())) return {};
  // A disturbed measurement can look too fast as well as too slow, so fresh processes decide.
  ForgetTiming();
  judging_.Note("hard_bound", CheckVerdict::kNote, "faster than its bound at first; timed again");
  TRY(TimeOnce(wish));
  if (!judging_.failed() && !TRY(Plausible())) RejectImplausible();
  return {};
}

// True if the first side, which maps its outputs again in each call, is clearly faster than the
// second, which keeps freed memory. In doubt it is not: the cost of page faults changes from moment
// to moment, and a speedup must not come from it.
bool FasterMappingAnew(const Interval& ratio) { return ratio.high < 1; }

// Finds, once per task, the allocator setting that makes eager fastest.
Result<void> TimingCheck::ChooseBaseline() {
  if (baseline_ || executor_.options().precision != Precision::kFull) return {};
  if (!TimeFor(kLeastForBaseline)) {
    judging_.Note("baseline", CheckVerdict::kSkipped,
                  "no time to find the faster allocator setting of eager: freed memory is kept");
    return {};
  }
  std::vector<Side> sides;
  for (const Allocator allocator : rules_.allocators) {
    sides.push_back({.role = SideRole::kEager, .allocator = allocator});
  }
  const TimedSession session = TRY(sessions_.Run(sides, budget() / 2, kBaselineProcesses));
  const std::size_t best = FasterMappingAnew(session.outcome.Ratio(0, 1)) ? 0 : 1;
  baseline_ = TaskBaseline{.eager = sides[best].allocator,
                           .eager_ms = session.outcome.sides[best].Milliseconds().median,
                           .compile = {}};
  return {};
}

// Returns true when the candidate failed; the evaluation then says so.
bool TimingCheck::NoteFailure(const TimingOutcome& outcome) {
  if (!outcome.failed) return false;
  judging_.Reject(outcome.failed->failure);
  if (outcome.failed->error) judging_.evaluation.error = outcome.failed->error;
  judging_.Note("timed_outputs", CheckVerdict::kFail, judging_.evaluation.reason);
  return true;
}

// Runs sessions until one is undisturbed. Fills in the times and ratios, or the failure of the
// candidate.
Result<void> TimingCheck::TimeOnce(const TimingWish& wish) {
  std::vector<Side> sides{{.role = SideRole::kCandidate, .kernel = judging_.kernel},
                          {.role = SideRole::kEager, .allocator = EagerAllocator()}};
  if (wish.compile && rules_.on_device) sides.push_back({.role = SideRole::kCompile});
  if (wish.best != nullptr) sides.push_back({.role = SideRole::kBest, .kernel = wish.best});
  for (int count = 1;; ++count) {
    const TimedSession session = TRY(sessions_.Contest(sides, budget()));
    TRY(NoteSession(session));
    if (judging_.failed()) return {};
    if (TRY(AuditAhead(session, count == kSessions))) return AuditReuse(session);
    ForgetTiming();
  }
}

// Notes the failure of the candidate, or records the times and ratios of one session.
Result<void> TimingCheck::NoteSession(const TimedSession& session) {
  const TimingOutcome& outcome = session.outcome;
  if (rules_.load) judging_.evaluation.load = outcome.load;
  judging_.evaluation.noisy = outcome.noisy;
  if (outcome.failed && outcome.failed->side == session.Find(SideRole::kBest)) {
    return Fail("the present best failed while it was timed: " + outcome.failed->failure.reason);
  }
  if (NoteFailure(outcome)) return {};
  if (!session.no_compile.empty())
    judging_.Note("compile_baseline", CheckVerdict::kNote, session.no_compile);
  judging_.Note("timed_outputs", CheckVerdict::kPass,
                fmt::format("all outputs of {} timed calls", outcome.sides[0].samples));
  if (!rules_.on_device) {
    judging_.Note("accounting", CheckVerdict::kPass,
                  fmt::format("{:.2f} processors in the timed calls, {} allowed",
                              outcome.sides[0].Processors(), executor_.machine().threads));
  }
  Record(session);
  return {};
}

void TimingCheck::Record(const TimedSession& session) {
  Evaluation& evaluation = judging_.evaluation;
  const TimingOutcome& outcome = session.outcome;
  const int threads = executor_.machine().threads;
  evaluation.timing = ToTiming(outcome.sides[0], threads, session.plan);
  evaluation.eager = ToTiming(outcome.sides[1], threads, session.plan);
  evaluation.speedup_eager = outcome.Ratio(1, 0);
  if (session.Has(SideRole::kBest)) {
    evaluation.speedup_best = outcome.Ratio(session.Find(SideRole::kBest), 0);
  }
  const std::size_t compile = session.Find(SideRole::kCompile);
  if (compile < session.sides.size() && session.no_compile.empty()) {
    RecordCompile(session, compile);
  }
  KeepSamples(evaluation, rules_.on_device ? "device" : "eager",
              NamesOf(session.sides, chooses_allocator()), outcome);
}

void TimingCheck::RecordCompile(const TimedSession& session, std::size_t compile) {
  Evaluation& evaluation = judging_.evaluation;
  evaluation.compile =
      ToTiming(session.outcome.sides[compile], executor_.machine().threads, session.plan);
  evaluation.speedup_compile = session.outcome.Ratio(compile, 0);
}

// Removes the checks that another session will note again.
void TimingCheck::ForgetTiming() {
  std::erase_if(judging_.evaluation.checks, [](const Check& check) {
    return check.name == "timed_outputs" || check.name == "accounting";
  });
}

// Audits work done ahead of time. False: the machine was too busy to tell, and this was not the
// last session.
Result<bool> TimingCheck::AuditAhead(const TimedSession& session, bool last) {
  if (executor_.sets().late() == nullptr) {
    judging_.Note("no_work_ahead", CheckVerdict::kPass,
                  "inputs reach the module's memory after the warm-up has been waited for");
    return true;
  }
  if (!Audits(session)) return true;
  const AheadAudit audit = TRY(sessions_.AuditAhead(session));
  if (audit.failed) {
    judging_.Reject(audit.failed->failure);
    if (audit.failed->error) judging_.evaluation.error = audit.failed->error;
    return true;
  }
  if (audit.passed()) {
    judging_.Note("no_work_ahead", CheckVerdict::kPass, "as fast on inputs that arrive late");
    return true;
  }
  if (audit.disturbed && !last) return false;
  RejectAhead(audit);
  return true;
}

void TimingCheck::RejectAhead(const AheadAudit& audit) {
  const Pace& slower = audit.late_burst.kept ? audit.single_call : audit.late_burst;
  const std::string figures = fmt::format(
      "{:.4g} ms a call when the inputs of many calls are ready, {:.4g} ms when {}",
      audit.ordinary_seconds * 1e3, slower.seconds * 1e3,
      audit.late_burst.kept ? "each arrives with its call" : "they arrive after the warm-up");
  judging_.Note("no_work_ahead", CheckVerdict::kFail, figures);
  NoteBusy();
  if (audit.disturbed) {
    judging_.evaluation.noisy = "other programs keep the machine busy";
    judging_.Reject(Status::kImplausible,
                    "other programs keep the machine too busy to tell whether it works on inputs "
                    "it was not asked for yet (" +
                        figures + "); evaluate it again");
    return;
  }
  judging_.Reject(Status::kImplausible,
                  "does work outside the call it is for, on inputs it was not asked for yet: " +
                      figures + "; compute each call's outputs within that call");
}

// Calls so long that they have no warm-up are not audited.
bool TimingCheck::Audits(const TimedSession& session) const {
  const VerifyOptions& options = executor_.options();
  return options.judging.mode == CheckMode::kStrict && options.precision != Precision::kUnaudited &&
         session.plan.warmup > 0;
}

// Audits the use of results that are already in the outputs. What a Python candidate returns is its
// own memory, and on a device pragma does not write the outputs.
Result<void> TimingCheck::AuditReuse(const TimedSession& session) {
  const bool shared = !rules_.on_device && judging_.kernel->python == nullptr;
  if (judging_.failed() || !shared || !Audits(session)) return {};
  const ReuseAudit audit = TRY(sessions_.AuditReuse(session));
  if (audit.failed) {
    judging_.Reject(audit.failed->failure);
    if (audit.failed->error) judging_.evaluation.error = audit.failed->error;
    return {};
  }
  const std::string figures = fmt::format(
      "{:.4g} ms a call where its outputs already hold the right results, {:.4g} ms where not",
      audit.right_seconds * 1e3, audit.poison_seconds * 1e3);
  judging_.Note("no_results_reused", audit.passed ? CheckVerdict::kPass : CheckVerdict::kFail,
                figures);
  if (audit.passed) return {};
  judging_.Reject(Status::kImplausible, "does less work where it finds its work done: " + figures +
                                            "; compute all outputs in each call");
  return {};
}

bool TimingCheck::BelowBound() const {
  return FasterThanPossible(judging_.evaluation.timing->ms.median,
                            HardBoundMs(task(), executor_.machine()));
}

// Sets the bound and returns whether the measured time respects it. A bound that was measured while
// the machine was busy is too high. Where other machines share the memory, its bandwidth changes by
// half within seconds. Before anything is called implausible, the machine is therefore measured
// again several times, and the best figures ever seen are used.
Result<bool> TimingCheck::Plausible() {
  Evaluation& evaluation = judging_.evaluation;
  if (judging_.failed()) return true;
  evaluation.roofline = RooflineOf(task(), executor_.machine());
  const double bound = HardBoundMs(task(), executor_.machine());
  if (bound <= 0) return true;
  evaluation.lower_bound_ms = bound;
  if (!BoundCanBeTold(bound, evaluation.timing->doorbell_us)) return true;
  for (int i = 0; i < kLooksAtMachine && BelowBound(); ++i) TRY(executor_.MeasureAgain());
  evaluation.lower_bound_ms = HardBoundMs(task(), executor_.machine());
  evaluation.roofline = RooflineOf(task(), executor_.machine());
  if (BelowBound()) return false;
  judging_.Note("hard_bound", CheckVerdict::kPass,
                fmt::format("{:.4g} ms is the least its bytes take", *evaluation.lower_bound_ms));
  return true;
}

// A rejection for a time that was measured on a busy machine says so, however narrow its interval.
void TimingCheck::NoteBusy() {
  Evaluation& evaluation = judging_.evaluation;
  if (evaluation.noisy.empty() && evaluation.load && Busy(*evaluation.load))
    evaluation.noisy = OthersText(*evaluation.load);
}

void TimingCheck::RejectImplausible() {
  NoteBusy();
  const double measured = judging_.evaluation.timing->ms.median;
  const double bound = *judging_.evaluation.lower_bound_ms;
  const std::string figures =
      fmt::format("{:.4g} ms measured, {:.4g} ms possible", measured, bound);
  judging_.Note("hard_bound", CheckVerdict::kFail, figures);
  judging_.Reject(
      Status::kImplausible,
      rules_.on_device
          ? "faster than the device can move its bytes: " + figures +
                "; every call must read all of its inputs and write all of its outputs"
          : fmt::format("{:.4g} ms is faster than the {:.4g} ms that its unavoidable bytes "
                        "take on this machine",
                        measured, bound));
}

// Times the kernel against torch.compile in a session of its own.
// What was found about the kernel is complete already: an error, or a request to stop, ends nothing
// but this session.
Result<void> TimingCheck::RunCompiled() {
  if (!baseline_ || !TimeFor(kLeastForCompile)) {
    judging_.Note("compile_baseline", CheckVerdict::kSkipped, "no time for torch.compile");
    return {};
  }
  std::vector<Side> sides{{.role = SideRole::kCandidate, .kernel = judging_.kernel}};
  for (const Allocator allocator : rules_.allocators) {
    if (baseline_->compile.value_or(allocator) != allocator) continue;
    sides.push_back({.role = SideRole::kCompile, .allocator = allocator});
  }
  Result<TimedSession> session = sessions_.Run(sides, budget());
  if (!session) {
    // torch.compile may not support a module. That is not the candidate's fault.
    judging_.Note("compile_baseline", CheckVerdict::kNote, session.error().message);
    return {};
  }
  const TimingOutcome& outcome = session->outcome;
  if (NoteFailure(outcome)) return {};
  const std::size_t faster = sides.size() == 2 || FasterMappingAnew(outcome.Ratio(1, 2)) ? 1 : 2;
  baseline_->compile = sides[faster].allocator;
  RecordCompile(*session, faster);
  if (judging_.evaluation.noisy.empty()) judging_.evaluation.noisy = outcome.noisy;
  KeepSamples(judging_.evaluation, "compile", NamesOf(sides, chooses_allocator()), outcome);
  return {};
}

}  // namespace

Result<void> TimeKernel(Executor& executor, Judging& judging, const TimingWish& wish,
                        const VerifyProgress& progress) {
  const PhaseTimer timer(judging.evaluation, "time");
  const Result<void> timed = TimingCheck(executor, judging, progress).Run(wish);
  executor.Leave();
  return timed;
}

Result<void> TimeCompiled(Executor& executor, Judging& judging, const VerifyProgress& progress) {
  const PhaseTimer timer(judging.evaluation, "time");
  const Result<void> timed = TimingCheck(executor, judging, progress).RunCompiled();
  executor.Leave();
  return timed;
}

}  // namespace pragma
