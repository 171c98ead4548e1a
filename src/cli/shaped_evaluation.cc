#include "cli/shaped_evaluation.h"

#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
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

// None where any shape has none. The limits' means are wider than the mean's own interval.
std::optional<Interval> Mean(const std::vector<ShapeResult>& shapes,
                             std::optional<Interval> ShapeResult::* ratio) {
  Interval logs;
  for (const ShapeResult& shape : shapes) {
    const std::optional<Interval>& one = shape.*ratio;
    if (!one) return std::nullopt;
    logs.median += std::log(one->median);
    logs.low += std::log(one->low);
    logs.high += std::log(one->high);
  }
  const auto n = static_cast<double>(shapes.size());
  return Interval{std::exp(logs.median / n), std::exp(logs.low / n), std::exp(logs.high / n)};
}

}  // namespace

ShapedEvaluation::ShapedEvaluation(Evaluation first) : all_(std::move(first)) {
  all_.shapes.push_back(ResultOf(kAsWritten, false, all_));
}

void ShapedEvaluation::Add(const ShapeSet& set, const Evaluation& evaluation) {
  all_.shapes.push_back(ResultOf(set.label(), set.held_out, evaluation));
  for (const auto& [phase, ms] : evaluation.phases_ms) all_.phases_ms[phase] += ms;
  if (evaluation.passed()) return;
  const std::string where =
      set.held_out ? "on a shape that authors are not shown" : "with " + set.label();
  all_.status = evaluation.status;
  all_.reason = where + ": " + evaluation.reason;
  all_.log = evaluation.log;
  all_.error = evaluation.error;
  for (const Check& check : evaluation.checks) {
    if (check.verdict == "fail") all_.checks.push_back(check);
  }
}

Evaluation ShapedEvaluation::Take() && {
  if (all_.passed()) {
    all_.speedup_eager = Mean(all_.shapes, &ShapeResult::speedup_eager);
    all_.speedup_compile = Mean(all_.shapes, &ShapeResult::speedup_compile);
    all_.speedup_best = Mean(all_.shapes, &ShapeResult::speedup_best);
  }
  return std::move(all_);
}

}  // namespace pragma
