#include "app/judge.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/call.h"
#include "app/evaluation_request.h"
#include "app/evidence_keeping.h"
#include "app/sanitize_once.h"
#include "app/tuning.h"
#include "base/interrupt.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "evidence/bundle.h"
#include "report/evaluation_text.h"
#include "report/json_text.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

std::size_t ShownOf(const std::vector<Evaluation>& evaluations) {
  const auto failed = std::ranges::find_if_not(evaluations, &Evaluation::passed);
  return failed == evaluations.end() ? evaluations.size() - 1
                                     : static_cast<std::size_t>(failed - evaluations.begin());
}

Result<Evaluation> EvaluateOnce(const EvaluationContext& context, const EvaluationRequest& request,
                                Candidate& candidate, const Verifier::Progress& progress) {
  if (Interrupted()) return Fail(ErrorKind::kInterrupted, "stopped by the user");
  Evaluation evaluation = TRY(EvaluateTuned(context.bench, context.task, candidate,
                                            {.best = request.against ? &*request.against : nullptr,
                                             .measure = request.measure,
                                             .tune = request.tune},
                                            progress));
  if (request.sanitize)
    TRY(SanitizeAnew(context.bench.store(), context.task, candidate, evaluation, progress));
  if (request.call) {
    TRY(AddCall(context.app, context.bench, context.task, candidate, evaluation, progress));
  }
  return evaluation;
}

}  // namespace

Result<Verdict> JudgeCandidate(const EvaluationContext& context, const EvaluationRequest& request,
                               Candidate candidate, Evidence evidence,
                               const Verifier::Progress& progress) {
  const Task& task = context.task.task();
  std::vector<Evaluation> evaluations;
  std::vector<std::string> objects;
  for (int i = 0; i < request.repeat; ++i) {
    evaluations.push_back(TRY(EvaluateOnce(context, request, candidate, progress)));
    // Only the first evaluation tunes. What the tuner tried is stored with each evaluation.
    if (!evaluations.back().tuning) evaluations.back().tuning = evaluations.front().tuning;
    objects.push_back(EvaluateObject(task, candidate, evaluations.back()));
  }
  const std::size_t at = ShownOf(evaluations);
  const Evaluation& shown = evaluations[at];
  Verdict verdict{.object = {},
                  .status = shown.status,
                  .text = EvaluationText(context.terminal, task, candidate, shown),
                  .bundle = {}};
  if (evidence == Evidence::kYes && shown.passed()) {
    const Candidate* against = request.against ? &*request.against : nullptr;
    verdict.bundle = Seal(MakeBundle(context.bench, context.task, candidate, against, shown));
    objects[at] = EvaluateObject(task, candidate, shown, verdict.bundle->sha256);
  }
  verdict.object = objects.size() > 1 ? RepeatedObject(objects[at], objects) : objects[at];
  return verdict;
}

}  // namespace pragma
