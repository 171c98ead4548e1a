#include "cli/judge.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "base/result.h"
#include "cli/drop_in.h"
#include "cli/evaluation_request.h"
#include "cli/evidence_keeping.h"
#include "cli/sanitize_once.h"
#include "cli/settings.h"
#include "cli/tuning.h"
#include "cli/verify_flags.h"
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

Result<Evaluation> EvaluateOnce(const Court& court, const EvaluationRequest& request,
                                Candidate& candidate, const Verifier::Progress& progress) {
  if (Interrupted()) return Fail(ErrorKind::kInterrupted, "stopped by the user");
  Evaluation evaluation = TRY(EvaluateTuned(court.bench, court.task, candidate,
                                            {.best = request.against ? &*request.against : nullptr,
                                             .measure = request.measure,
                                             .tune = request.tune},
                                            progress));
  if (request.sanitize)
    TRY(SanitizeAnew(court.bench.store(), court.task, candidate, evaluation, progress));
  if (request.drop_in) {
    TRY(AddDropIn(court.context, court.bench, court.task, candidate, evaluation, progress));
  }
  return evaluation;
}

}  // namespace

VerifyFlags VerifyFlagsOf(const EvaluationRequest& request, const VerifyFlags& given,
                          const Settings& settings) {
  VerifyFlags verify = given;
  if (!request.target.empty()) verify.target = request.target;
  if (!request.mode.empty()) verify.mode = request.mode;
  if (!request.cache.empty()) verify.cache = request.cache;
  if (request.threads > 0) verify.threads = request.threads;
  if (!request.run_limit.empty()) verify.run_limit = request.run_limit;
  if (!request.task_limit.empty()) verify.task_limit = request.task_limit;
  verify.strict_nan = verify.strict_nan || request.strict_nan;
  if (!request.shapes.empty()) verify.shapes = request.shapes;
  return verify.With(settings);
}

Result<Verdict> JudgeCandidate(const Court& court, const EvaluationRequest& request,
                               Candidate candidate, Evidence evidence,
                               const Verifier::Progress& progress) {
  const Task& task = court.task.task();
  std::vector<Evaluation> evaluations;
  std::vector<std::string> objects;
  for (int i = 0; i < request.repeat; ++i) {
    evaluations.push_back(TRY(EvaluateOnce(court, request, candidate, progress)));
    // Only the first evaluation tunes. What the tuner tried is stored with each evaluation.
    if (!evaluations.back().tuning) evaluations.back().tuning = evaluations.front().tuning;
    objects.push_back(EvaluateObject(task, candidate, evaluations.back()));
  }
  const std::size_t at = ShownOf(evaluations);
  const Evaluation& shown = evaluations[at];
  Verdict verdict{.object = {},
                  .status = shown.status,
                  .text = EvaluationText(court.context.console.out, task, candidate, shown),
                  .bundle = {}};
  if (evidence == Evidence::kYes && shown.passed()) {
    const Candidate* against = request.against ? &*request.against : nullptr;
    verdict.bundle = Seal(MakeBundle(court.bench, court.task, candidate, against, shown));
    objects[at] = EvaluateObject(task, candidate, shown, verdict.bundle->sha256);
  }
  verdict.object = objects.size() > 1 ? RepeatedObject(objects[at], objects) : objects[at];
  return verdict;
}

}  // namespace pragma
