#include "app/call.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "app/context.h"
#include "app/exporting.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "verify/verifier.h"

namespace pragma {
namespace {

// torch.compile is timed again as a call unless it was slower than eager by more than this factor.
constexpr double kClearlySlower = 1.25;
// A call contains the kernel. Where a loop has its data closer to the processors it may take less
// than the kernel's own figure, but then Torch takes less as well. What gains this much on both was
// not all done in the call. An honest kernel of 0.3 ms was seen to gain 3.5 on its own figure and 2
// on Torch.
constexpr double kFasterThanKernel = 4;

void Note(Evaluation& evaluation, CheckVerdict verdict, const std::string& detail) {
  evaluation.checks.push_back({.name = "call", .verdict = verdict, .detail = detail});
}

Measure MeasureOf(const Evaluation& kernel) {
  const bool compile =
      kernel.speedup_compile && kernel.speedup_eager &&
      kernel.speedup_compile->median < kClearlySlower * kernel.speedup_eager->median;
  return compile ? Measure::kCallAndCompile : Measure::kCall;
}

bool TooFast(const CallFigures& call, const Evaluation& kernel) {
  if (call.kept.timing.ms.median * kFasterThanKernel >= kernel.timing->ms.median) return false;
  const auto& own = call.over == "eager" ? kernel.speedup_eager : kernel.speedup_compile;
  return !own || call.kept.speedup.median > kFasterThanKernel * own->median;
}

}  // namespace

Result<void> AddCall(const AppContext& context, const Workbench& bench, TaskBench& task,
                     const Candidate& candidate, Evaluation& evaluation,
                     const Verifier::Progress& progress) {
  if (!evaluation.passed()) return {};
  if (!evaluation.timing) {
    Note(evaluation, CheckVerdict::kSkipped, "nothing is timed here");
    return {};
  }
  if (candidate.language == Language::kCuda) {
    Note(evaluation, CheckVerdict::kSkipped, "ModelNew of a CUDA source is not run by pragma");
    return {};
  }
  Solution solution = TRY(SolutionOf(context, bench, task, candidate));
  if (!solution.candidate) {
    Note(evaluation, CheckVerdict::kSkipped, "no ModelNew can be written: " + solution.refusal);
    return {};
  }
  // ModelNew of a Triton module runs where the module does.
  if (candidate.language == Language::kTriton) solution.candidate->language = Language::kTriton;
  Evaluation judged = TRY(task.Evaluate(*solution.candidate, nullptr, MeasureOf(evaluation),
                                        [&progress](std::string_view phase) {
                                          if (progress) progress("call: " + std::string(phase));
                                        }));
  if (!judged.passed()) {
    Note(evaluation, CheckVerdict::kNote,
         "ModelNew did not pass, so it was not timed: " + judged.reason);
    return {};
  }
  if (!judged.call) return Fail("the calls of ModelNew were not timed");
  if (TooFast(*judged.call, evaluation)) {
    Note(
        evaluation, CheckVerdict::kFail,
        fmt::format("a call of {:.4g} ms cannot contain the kernel's {:.4g} ms, so it is not shown",
                    judged.call->kept.timing.ms.median, evaluation.timing->ms.median));
    return {};
  }
  Note(evaluation, CheckVerdict::kPass,
       "ModelNew agrees with Model; " + judged.call->kept.timing.method);
  evaluation.call = std::move(judged.call);
  if (evaluation.noisy.empty() && !judged.noisy.empty()) {
    evaluation.noisy = judged.noisy + " (the call of ModelNew)";
  }
  for (RawSamples& samples : judged.samples) evaluation.samples.push_back(std::move(samples));
  return {};
}

}  // namespace pragma
