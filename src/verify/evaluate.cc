#include "verify/evaluate.h"

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "verify/call_timing.h"
#include "verify/candidate_audit.h"
#include "verify/executor.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/timing_check.h"
#include "verify/value_check.h"

namespace pragma {
namespace {

class CandidateJudge final {
 public:
  CandidateJudge(Executor& executor, const EvaluationWish& wish, const VerifyProgress& progress)
      : executor_(executor),
        wish_(wish),
        progress_(progress),
        judging_{.evaluation = {.status = Status::kPassed}} {}

  Result<Evaluation> Run(const Candidate& candidate);

 private:
  Result<void> BuildAndCheck(const Candidate& candidate);
  Result<void> Check(Judging& judging);
  Result<void> Time();
  [[nodiscard]] bool times() const {
    return wish_.measure != Measure::kNothing && executor_.CannotTime().empty();
  }

  Executor& executor_;
  const EvaluationWish& wish_;
  const VerifyProgress& progress_;
  Judging judging_;
  const BuiltKernel* best_ = nullptr;
};

Result<Evaluation> CandidateJudge::Run(const Candidate& candidate) {
  TRY(executor_.Prepare(judging_.evaluation));
  judging_.evaluation.environment = executor_.Describe(candidate.language);
  TRY(BuildAndCheck(candidate));
  const std::string untimed = executor_.CannotTime();
  if (!untimed.empty() && !judging_.failed())
    judging_.Note("timing", CheckVerdict::kSkipped, untimed);
  if (times() && !judging_.failed()) TRY(Time());
  return std::move(judging_.evaluation);
}

// The seed is drawn only now that the binary is fixed, so that no answer can have been prepared.
Result<void> CandidateJudge::BuildAndCheck(const Candidate& candidate) {
  TRY(executor_.Share());
  const bool against_best = wish_.best != nullptr && times();
  Evaluation of_best;
  if (against_best) best_ = TRY(executor_.BuildBest(*wish_.best, of_best));
  if (progress_) progress_("build");
  judging_.kernel = TRY(executor_.Build(candidate, judging_.evaluation));
  if (judging_.kernel == nullptr) return {};
  if (against_best && best_ == nullptr) {
    judging_.Note("best", CheckVerdict::kNote,
                  "not timed against the best so far, which no longer builds: " + of_best.reason);
  }
  judging_.DrawSecrets(executor_.options().seed);
  return Check(judging_);
}

Result<void> CandidateJudge::Check(Judging& judging) {
  const std::unique_ptr<CheckedCalls> calls = executor_.Calls(judging);
  const CheckParts parts{.sets = executor_.sets(), .calls = *calls, .options = executor_.options()};
  return CheckValues(parts, judging, progress_);
}

Result<void> CandidateJudge::Time() {
  if (MeasuresCall(wish_.measure)) {
    return TimeCalls(executor_, judging_, MeasuresCompile(wish_.measure), progress_);
  }
  const TimingWish wish{.best = best_, .compile = wish_.measure == Measure::kEagerAndCompile};
  TRY(TimeKernel(executor_, judging_, wish, progress_));
  if (judging_.failed()) return {};
  if (executor_.options().precision == Precision::kUnaudited) {
    judging_.Note("audit", CheckVerdict::kSkipped, "the speed is not judged");
    return {};
  }
  const Judges judges{.check = [this](Judging& again) -> Result<void> {
                        TRY(executor_.Share());
                        TRY(Check(again));
                        executor_.Leave();
                        return {};
                      },
                      .time =
                          [&](Judging& again) {
                            const bool all = executor_.rules().on_device;
                            return TimeKernel(executor_, again, all ? wish : TimingWish{},
                                              progress_);
                          }};
  TRY(AuditCandidate({executor_.sets().task(), executor_.machine()}, judges, judging_, progress_));
  if (judging_.failed() || !wish.compile || executor_.rules().on_device) return {};
  return TimeCompiled(executor_, judging_, progress_);
}

}  // namespace

Result<Evaluation> EvaluateOn(Executor& executor, const Candidate& candidate,
                              const EvaluationWish& wish, const VerifyProgress& progress) {
  Result<Evaluation> evaluation = CandidateJudge(executor, wish, progress).Run(candidate);
  executor.Leave();
  return evaluation;
}

}  // namespace pragma
