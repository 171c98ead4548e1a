#include "app/shaped_evaluation.h"

#include <string>
#include <utility>
#include <vector>

#include "core/evaluation.h"
#include "task/shapes.h"

namespace pragma {
namespace {

ShapeResult ResultOf(std::string label, bool held_out, const Evaluation& evaluation) {
  return {.label = std::move(label),
          .held_out = held_out,
          .status = evaluation.status,
          .timing = evaluation.timing,
          .speedup_eager = evaluation.speedup_eager,
          .speedup_compile = evaluation.speedup_compile,
          .speedup_best = evaluation.speedup_best};
}

}  // namespace

ShapedEvaluation::ShapedEvaluation(Evaluation first) : all_(std::move(first)) {
  all_.shapes.push_back(ResultOf(kAsWritten, false, all_));
}

void ShapedEvaluation::Add(const ShapeSet& set, const Evaluation& evaluation) {
  all_.shapes.push_back(ResultOf(set.label(), set.held_out, evaluation));
  for (RawSamples side : evaluation.samples) {
    side.session = SessionOf(side.session, set.label());
    all_.samples.push_back(std::move(side));
  }
  const std::string shape = " with " + set.label();
  for (const std::string& battery : evaluation.partly_checked)
    all_.partly_checked.push_back(battery + shape);
  for (const std::string& found : evaluation.nan) all_.nan.push_back(found + shape);
  if (all_.noisy.empty() && !evaluation.noisy.empty()) all_.noisy = evaluation.noisy + shape;
  for (const auto& [phase, ms] : evaluation.phases_ms) all_.phases_ms[phase] += ms;
  if (evaluation.passed()) return;
  const std::string where =
      set.held_out ? "on a shape that authors are not shown" : "with " + set.label();
  all_.status = evaluation.status;
  all_.reason = where + ": " + evaluation.reason;
  all_.log = evaluation.log;
  all_.error = evaluation.error;
  for (const Check& check : evaluation.checks) {
    if (check.verdict == CheckVerdict::kFail) all_.checks.push_back(check);
  }
}

Evaluation ShapedEvaluation::Take() && {
  if (all_.passed()) {
    all_.speedup_eager = MeanOverShapes(all_.shapes, &ShapeResult::speedup_eager);
    all_.speedup_compile = MeanOverShapes(all_.shapes, &ShapeResult::speedup_compile);
    all_.speedup_best = MeanOverShapes(all_.shapes, &ShapeResult::speedup_best);
  }
  return std::move(all_);
}

}  // namespace pragma
