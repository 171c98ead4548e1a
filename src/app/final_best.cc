#include "app/final_best.h"

#include <optional>
#include <string_view>
#include <utility>

#include "app/call.h"
#include "app/search_run.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "report/figures.h"
#include "search/session.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

// The call is measured in some ten processes, each of which imports torch.
constexpr Seconds kCall{20};
// A search leaves time for the call only where that is no more than this part of it.
constexpr double kPartForCall = 1.0 / 3;

// Returns how long the checks and the timing of an evaluation took.
Seconds SecondsOf(const Evaluation& evaluation) {
  double milliseconds = 0;
  for (const char* phase : {"load", "verify", "state", "time", "audit"}) {
    const auto found = evaluation.phases_ms.find(phase);
    if (found != evaluation.phases_ms.end()) milliseconds += found->second;
  }
  return Seconds{milliseconds / 1000};
}

Evaluation OnlyAttempt(Evaluation evaluation) {
  evaluation.checks.push_back(
      {"final", CheckVerdict::kNote, "the only attempt: nothing chose its figures"});
  return evaluation;
}

// A reader sees both figures, so where they contradict each other the result says so.
void NoteDisagreement(const Evaluation& search, Evaluation& again) {
  const std::string text = Disagreement(search.speedup_eager, again.speedup_eager);
  if (!text.empty()) again.checks.push_back({"final", CheckVerdict::kNote, text});
}

class FinalMeasurement final {
 public:
  FinalMeasurement(const FinalParts& parts, const Trial& best, const SearchPlan& plan,
                   const SearchObserver& observer)
      : parts_(parts),
        best_(best),
        plan_(plan),
        on_phase_([&](std::string_view phase) { observer.on_phase(best.node, phase); }) {}

  Result<FinalBest> Run() {
    parts_.task.set_more_to_come(false);
    parts_.task.set_quick(false);
    TRY(Again());
    if (found_.evaluation && plan_.call) TRY(Call());
    return std::move(found_);
  }

 private:
  Result<void> Again();
  Result<void> Call();
  Result<void> Ended(Error error, const char* what);

  const FinalParts& parts_;
  const Trial& best_;
  const SearchPlan& plan_;
  Verifier::Progress on_phase_;
  FinalBest found_;
};

Result<void> FinalMeasurement::Again() {
  constexpr const char* kWhat = "a second measurement of the best";
  if (!ChosenFromSeveral(plan_)) {
    found_.evaluation = OnlyAttempt(best_.evaluation);
    return {};
  }
  if (plan_.deadline.Left() < SecondsOf(best_.evaluation)) {
    found_.left_out.emplace_back(kWhat);
    return {};
  }
  Result<Evaluation> again = parts_.task.Evaluate(*best_.candidate, nullptr,
                                                  MeasureWith(plan_.compile_baseline), on_phase_);
  if (!again) return Ended(std::move(again.error()), kWhat);
  NoteDisagreement(best_.evaluation, *again);
  found_.evaluation = std::move(*again);
  return {};
}

Result<void> FinalMeasurement::Call() {
  constexpr const char* kWhat = "the call of ModelNew";
  if (plan_.deadline.Left() < kCall) {
    found_.left_out.emplace_back(kWhat);
    return {};
  }
  Result<void> added = AddCall(parts_.context, parts_.bench, parts_.task, *best_.candidate,
                               *found_.evaluation, on_phase_);
  if (!added) return Ended(std::move(added.error()), kWhat);
  return {};
}

Result<void> FinalMeasurement::Ended(Error error, const char* what) {
  if (error.kind != ErrorKind::kInterrupted) return std::unexpected(std::move(error));
  found_.interrupted = !TimeIsUp();
  if (TimeIsUp()) found_.left_out.emplace_back(what);
  return {};
}

}  // namespace

Result<FinalBest> MeasureBest(const FinalParts& parts, const SessionResult& session,
                              const SearchPlan& plan, const SearchObserver& observer) {
  if (session.stopped == StopReason::kInterrupted) return FinalBest{.interrupted = true};
  const Trial* best = session.tree.best();
  if (best == nullptr || !plan.measure_again) return FinalBest{};
  return FinalMeasurement(parts, *best, plan, observer).Run();
}

Seconds TimeForCall(const SearchPlan& plan) {
  const bool short_of_time = plan.deadline.Left() * kPartForCall < kCall;
  return plan.call && plan.measure_again && !short_of_time ? kCall : Seconds{0};
}

}  // namespace pragma
