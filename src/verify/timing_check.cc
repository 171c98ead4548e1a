#include "verify/timing_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/evaluation.h"
#include "machine/machine.h"
#include "task/torch_server.h"
#include "verify/ahead_audit.h"
#include "verify/bounds.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/timing_plan.h"
#include "verify/timing_record.h"
#include "verify/timing_session.h"

namespace pragma {
namespace {

constexpr int kLooksAtMachine = 4;
constexpr int kBaselineProcesses = 3;
constexpr Seconds kEnoughUpkeep{0.3};  // no further refill is measured after this time
constexpr int kSessions = 3;  // maximum, if the machine is busier in the audit than before it

// Returns the names of the sides as used in the records.
std::vector<std::string> Names(const std::vector<Side>& sides) {
  std::vector<std::string> names;
  for (const Side& side : sides) {
    names.push_back(side.kernel != nullptr
                        ? side.name
                        : fmt::format("{} ({})", side.name, AllocatorName(side.allocator)));
  }
  return names;
}

class TimingCheck final {
 public:
  TimingCheck(const JudgeParts& parts, Judging& judging, std::optional<TaskBaseline>& baseline,
              const VerifyProgress& progress)
      : parts_(parts), judging_(judging), baseline_(baseline), progress_(progress) {}

  Result<void> Run(const BuiltKernel* best);
  Result<void> RunCompiled();

 private:
  Result<void> MeasureUpkeep();
  Result<void> ChooseBaseline();
  Result<void> TimeOnce(const BuiltKernel* best);
  Result<bool> Plausible();
  [[nodiscard]] bool BelowBound() const;
  void RejectImplausible();
  bool NoteFailure(const TimingOutcome& outcome);
  Result<void> NoteSession(const TimingOutcome& outcome, const std::vector<Side>& sides,
                           const TimingPlan& plan);
  void ForgetTiming();
  Result<bool> AuditAhead(const TimingPlan& plan, const SideTiming& session, bool last);
  [[nodiscard]] Allocator EagerAllocator() const {
    return judging_.drop_in ? Allocator::kDefault : baseline_->eager;
  }
  // The allocator settings of Torch that are tried.
  [[nodiscard]] static std::vector<Allocator> Allocators() {
    return {Allocator::kDefault, Allocator::kKeep};
  }
  [[nodiscard]] TimingContext Context() const;
  [[nodiscard]] TimingPlan Plan(double round, Seconds budget) const;
  [[nodiscard]] const Task& task() const { return parts_.stage.task(); }

  const JudgeParts& parts_;
  Judging& judging_;
  std::optional<TaskBaseline>& baseline_;
  const VerifyProgress& progress_;
};

Result<void> TimingCheck::Run(const BuiltKernel* best) {
  TRY(MeasureUpkeep());
  TRY(ChooseBaseline());
  Evaluation& evaluation = judging_.evaluation;
  evaluation.environment.allocator = AllocatorName(EagerAllocator());
  TRY(TimeOnce(best));
  if (!evaluation.timing || TRY(Plausible())) return {};
  // A disturbed measurement can look too fast as well as too slow, so fresh processes decide.
  ForgetTiming();
  judging_.Note("hard_bound", "note", "faster than its bound at first; timed again");
  TRY(TimeOnce(best));
  if (!judging_.failed() && !TRY(Plausible())) RejectImplausible();
  return {};
}

TimingContext TimingCheck::Context() const {
  return {.stage = &parts_.stage,
          .jail = &parts_.jail,
          .libraries = &parts_.libraries,
          .worker = parts_.worker,
          .progress = [this](int process, int processes) {
            if (progress_) progress_(fmt::format("time {}/{}", process, processes));
          }};
}

TimingPlan TimingCheck::Plan(double round, Seconds budget) const {
  return MakePlan({.sets = parts_.stage.ring().sets(),
                   .round_seconds = round,
                   .upkeep_seconds = judging_.upkeep_seconds,
                   .cache = parts_.options.judging.cache},
                  budget);
}

// Refills some slots without using them, to measure how long this takes. The first refill warms the
// reference up.
Result<void> TimingCheck::MeasureUpkeep() {
  Stage& stage = parts_.stage;
  TRY(stage.RenewSet(0, judging_.rng));
  const std::size_t slots = std::min(stage.ring().sets(), kSlotsForUpkeep);
  const TimePoint before = std::chrono::steady_clock::now();
  std::size_t renewed = 0;
  while (renewed < slots && (renewed == 0 || Since(before) < kEnoughUpkeep))
    TRY(stage.RenewSet(renewed++, judging_.rng));
  const double all = Since(before).count();
  judging_.upkeep_seconds = all / static_cast<double>(renewed) + 2 * judging_.compare_seconds;
  return {};
}

// True if the first side, which maps its outputs again in each call, is clearly faster than the
// second, which keeps freed memory. In doubt it is not: the cost of page faults changes from moment
// to moment, and a speedup must not come from it.
bool FasterMappingAnew(const Interval& ratio) { return ratio.high < 1; }

// Finds, once per task, the allocator setting that makes eager fastest.
Result<void> TimingCheck::ChooseBaseline() {
  if (baseline_) return {};
  std::vector<Side> sides;
  for (const Allocator allocator : Allocators()) {
    sides.push_back({.name = "eager", .allocator = allocator});
  }
  TimingPlan plan = Plan(2 * judging_.call_seconds(), parts_.options.timing_budget / 2);
  plan.processes = kBaselineProcesses;
  const TimingOutcome outcome = TRY(RunTiming(Context(), sides, plan, judging_.rng));
  const std::size_t best = FasterMappingAnew(outcome.Ratio(0, 1)) ? 0 : 1;
  baseline_ = TaskBaseline{.eager = sides[best].allocator,
                           .eager_ms = outcome.sides[best].Milliseconds().median,
                           .compile = {}};
  return {};
}

// Returns true when the candidate failed; the evaluation then says so.
bool TimingCheck::NoteFailure(const TimingOutcome& outcome) {
  if (!outcome.failed) return false;
  judging_.Reject(outcome.failed->failure);
  if (outcome.failed->error) judging_.evaluation.error = outcome.failed->error;
  judging_.Note("timed_outputs", "fail", judging_.evaluation.reason);
  return true;
}

// Runs sessions until one is undisturbed. Fills in the times and ratios, or the failure of the
// candidate.
Result<void> TimingCheck::TimeOnce(const BuiltKernel* best) {
  std::vector<Side> sides{{.name = "candidate", .kernel = judging_.kernel},
                          {.name = "eager", .allocator = EagerAllocator()}};
  if (best != nullptr) sides.push_back({.name = "best", .kernel = best});
  const double round =
      judging_.call_seconds() * static_cast<double>(sides.size() - 1) + baseline_->eager_ms * 1e-3;
  const TimingPlan plan = Plan(round, parts_.options.timing_budget);
  for (int session = 1;; ++session) {
    const TimingOutcome outcome =
        TRY(best == nullptr ? RunTiming(Context(), sides, plan, judging_.rng)
                            : RunContest(Context(), sides, plan, {.challenger = 0, .champion = 2},
                                         judging_.rng));
    TRY(NoteSession(outcome, sides, plan));
    if (judging_.failed()) return {};
    if (TRY(AuditAhead(plan, outcome.sides.front(), session == kSessions))) return {};
    ForgetTiming();
  }
}

// Records the times and ratios of one session, or the failure of the candidate.
Result<void> TimingCheck::NoteSession(const TimingOutcome& outcome, const std::vector<Side>& sides,
                                      const TimingPlan& plan) {
  Evaluation& evaluation = judging_.evaluation;
  if (outcome.failed && outcome.failed->side == 2) {
    return Fail("the present best failed while it was timed: " + outcome.failed->failure.reason);
  }
  if (NoteFailure(outcome)) return {};
  judging_.Note("timed_outputs", "pass",
                fmt::format("all outputs of {} timed calls", outcome.sides[0].samples));
  judging_.Note("accounting", "pass",
                fmt::format("{:.2f} processors in the timed calls, {} allowed",
                            outcome.sides[0].Processors(), parts_.machine.threads));
  evaluation.timing = ToTiming(outcome.sides[0], parts_.machine.threads, plan);
  evaluation.eager = ToTiming(outcome.sides[1], parts_.machine.threads, plan);
  evaluation.speedup_eager = outcome.Ratio(1, 0);
  if (sides.size() > 2) evaluation.speedup_best = outcome.Ratio(2, 0);
  KeepSamples(evaluation, "eager", Names(sides), outcome);
  return {};
}

// Removes the checks that another session will note again.
void TimingCheck::ForgetTiming() {
  std::erase_if(judging_.evaluation.checks, [](const Check& check) {
    return check.name == "timed_outputs" || check.name == "accounting";
  });
}

// Audits work done ahead of time. False: the machine was too busy to tell, and this was not the
// last session.
Result<bool> TimingCheck::AuditAhead(const TimingPlan& plan, const SideTiming& session, bool last) {
  if (parts_.options.judging.mode != CheckMode::kStrict || plan.warmup == 0) return true;
  const AheadAudit audit =
      TRY(AuditWorkAhead(Context(), {.name = "candidate", .kernel = judging_.kernel}, plan,
                         session.Fastest(), judging_.rng));
  if (audit.failed) {
    judging_.Reject(audit.failed->failure);
    if (audit.failed->error) judging_.evaluation.error = audit.failed->error;
    return true;
  }
  if (audit.passed()) {
    judging_.Note("no_work_ahead", "pass", "as fast on inputs that arrive late");
    return true;
  }
  if (audit.disturbed && !last) return false;
  const Pace& slower = audit.late_burst.kept ? audit.single_call : audit.late_burst;
  const std::string figures = fmt::format(
      "{:.4g} ms a call when the inputs of many calls are ready, {:.4g} ms when {}",
      audit.ordinary_seconds * 1e3, slower.seconds * 1e3,
      audit.late_burst.kept ? "each arrives with its call" : "they arrive after the warm-up");
  judging_.Note("no_work_ahead", "fail", figures);
  if (audit.disturbed) {
    judging_.Reject(Status::kImplausible,
                    "other programs keep the machine too busy to tell whether it works on inputs "
                    "it was not asked for yet (" +
                        figures + "); evaluate it again");
    return true;
  }
  judging_.Reject(Status::kImplausible,
                  "does work outside the call it is for, on inputs it was not asked for yet: " +
                      figures + "; compute each call's outputs within that call");
  return true;
}

bool TimingCheck::BelowBound() const {
  return FasterThanPossible(judging_.evaluation.timing->ms.median,
                            HardBoundMs(task(), parts_.machine));
}

// Sets the bound and returns whether the measured time respects it. A bound that was measured while
// the machine was busy is too high. Where other machines share the memory, its bandwidth changes by
// half within seconds. Before anything is called implausible, the machine is therefore measured
// again several times, and the best figures ever seen are used.
Result<bool> TimingCheck::Plausible() {
  Evaluation& evaluation = judging_.evaluation;
  if (judging_.failed()) return true;
  const double bound = HardBoundMs(task(), parts_.machine);
  if (bound <= 0) return true;
  evaluation.lower_bound_ms = bound;
  if (!BoundCanBeTold(bound, evaluation.timing->doorbell_us)) return true;
  for (int i = 0; i < kLooksAtMachine && BelowBound(); ++i) {
    Machine again = parts_.machine;
    TRY(MeasureMachine(again, parts_.jail.program_dir()));
    parts_.machine = BetterFigures(parts_.machine, again);
  }
  evaluation.lower_bound_ms = HardBoundMs(task(), parts_.machine);
  if (BelowBound()) return false;
  judging_.Note("hard_bound", "pass",
                fmt::format("{:.4g} ms is the least its bytes take", *evaluation.lower_bound_ms));
  return true;
}

void TimingCheck::RejectImplausible() {
  const double measured = judging_.evaluation.timing->ms.median;
  const double bound = *judging_.evaluation.lower_bound_ms;
  judging_.Note("hard_bound", "fail",
                fmt::format("{:.4g} ms measured, {:.4g} ms possible", measured, bound));
  judging_.Reject(Status::kImplausible,
                  fmt::format("{:.4g} ms is faster than the {:.4g} ms that its unavoidable bytes "
                              "take on this machine",
                              measured, bound));
}

Result<void> TimingCheck::RunCompiled() {
  Evaluation& evaluation = judging_.evaluation;
  std::vector<Side> sides{{.name = "candidate", .kernel = judging_.kernel}};
  const auto add = [&](Allocator allocator) {
    sides.push_back({.name = "compile", .mode = TimerMode::kCompile, .allocator = allocator});
  };
  if (baseline_->compile) {
    add(*baseline_->compile);
  } else {
    for (const Allocator allocator : Allocators()) add(allocator);
  }
  const double round =
      judging_.call_seconds() + baseline_->eager_ms * 1e-3 * static_cast<double>(sides.size() - 1);
  const TimingPlan plan = Plan(round, parts_.options.timing_budget);
  Result<TimingOutcome> outcome = RunTiming(Context(), sides, plan, judging_.rng);
  if (!outcome && outcome.error().kind != ErrorKind::kInterrupted) {
    // torch.compile may not support a module. That is not the candidate's fault.
    judging_.Note("compile_baseline", "note", outcome.error().message);
    return {};
  }
  if (!outcome) return std::unexpected(outcome.error());
  if (NoteFailure(*outcome)) return {};
  const std::size_t faster = sides.size() == 2 || FasterMappingAnew(outcome->Ratio(1, 2)) ? 1 : 2;
  baseline_->compile = sides[faster].allocator;
  evaluation.compile = ToTiming(outcome->sides[faster], parts_.machine.threads, plan);
  evaluation.speedup_compile = outcome->Ratio(faster, 0);
  KeepSamples(evaluation, "compile", Names(sides), *outcome);
  return {};
}

}  // namespace

Result<void> TimeKernel(const JudgeParts& parts, Judging& judging, const BuiltKernel* best,
                        std::optional<TaskBaseline>& baseline, const VerifyProgress& progress) {
  const PhaseTimer timer(judging.evaluation, "time");
  const MachineLock lock = TRY(TakeMachine(judging.evaluation));
  return TimingCheck(parts, judging, baseline, progress).Run(best);
}

Result<void> TimeCompiled(const JudgeParts& parts, Judging& judging,
                          std::optional<TaskBaseline>& baseline, const VerifyProgress& progress) {
  const PhaseTimer timer(judging.evaluation, "time");
  const MachineLock lock = TRY(TakeMachine(judging.evaluation));
  return TimingCheck(parts, judging, baseline, progress).RunCompiled();
}

}  // namespace pragma
