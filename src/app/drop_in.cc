#include "app/drop_in.h"

#include <string>
#include <string_view>

#include "app/context.h"
#include "app/exporting.h"
#include "app/workbench.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

void Note(Evaluation& evaluation, const std::string& verdict, const std::string& detail) {
  evaluation.checks.push_back({.name = "drop_in", .verdict = verdict, .detail = detail});
}

}  // namespace

Result<void> AddDropIn(const AppContext& context, const Workbench& bench, TaskBench& task,
                       const Candidate& candidate, Evaluation& evaluation,
                       const Verifier::Progress& progress) {
  if (!evaluation.passed()) return {};
  if (!RunsOnProcessor(candidate.language)) {
    Note(evaluation, "skipped", "ModelNew of a kernel for a GPU is not run by pragma");
    return {};
  }
  const Solution solution = TRY(SolutionOf(context, bench, task, candidate));
  if (!solution.candidate) {
    Note(evaluation, "skipped", "no ModelNew can be written: " + solution.refusal);
    return {};
  }
  const Evaluation judged = TRY(task.Evaluate(*solution.candidate, nullptr, Measure::kDropIn,
                                              [&progress](std::string_view phase) {
                                                if (progress)
                                                  progress("drop-in: " + std::string(phase));
                                              }));
  if (!judged.passed()) {
    Note(evaluation, "note", "ModelNew did not pass, so it was not timed: " + judged.reason);
    return {};
  }
  evaluation.speedup_dropin = judged.speedup_eager;
  if (evaluation.noisy.empty() && !judged.noisy.empty())
    evaluation.noisy = judged.noisy + " (drop-in ModelNew)";
  Note(evaluation, "pass", "ModelNew agrees with Model; " + judged.timing->method);
  return {};
}

}  // namespace pragma
