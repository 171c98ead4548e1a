#include "expert/plan/image_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

bool ImageSteps::Add(const Nest& nest) {
  if (nest.shape.empty() || nest.shape[0] % images_ != 0) return false;
  const bool maps = std::ranges::all_of(
      nest.steps, [](const Step& step) { return step.kind == Step::Kind::kMap; });
  // Vectors along the only dimension make it an inner one.
  if (nest.inner[0] && !(nest.lane == 0 && maps)) return false;
  per_index_ = nest.shape[0] / images_;
  if (nest.lane == 0 && (lanes_ == 0 || per_index_ % lanes_ != 0)) return false;
  if (nest.anchored && !AddConvolution(nest)) return false;
  for (std::size_t s = 0; s < nest.steps.size(); ++s) {
    const Step& step = nest.steps[s];
    if (!AddAccess(step.buffer, step.place)) return false;
    if (!step.position.factor.empty() && step.position.factor[0] != 0) return false;
    const bool anchor = nest.anchored && s == 0;  // the expression of an anchor is over other
                                                  // dimensions
    if (!anchor && !AddExpression(*step.expr)) return false;
  }
  return true;
}

bool ImageSteps::AddConvolution(const Nest& nest) {
  const std::optional<ConvolutionHint>& form = nest.steps[0].convolution;
  if (!form || form->batch != images_ || per_index_ != 1) return false;
  return AddStep(form->input, form->in_channels * Elements(form->in_size)) &&
         AddStep(form->weight, 0);
}

bool ImageSteps::AddExpression(const Expr& expr) {
  if (expr.op == ExprOp::kIndex) return expr.index.factor[0] == 0;
  if (expr.op == ExprOp::kLoad) {
    if (!AddAccess(expr.load.buffer, expr.load.address)) return false;
    for (const Bound& bound : expr.load.bounds)
      if (bound.form.factor[0] != 0) return false;
    for (const Indirect& part : expr.load.indirect)
      if (!AddExpression(*part.index)) return false;
    if (!expr.load.indirect.empty()) scattered_.insert(expr.load.buffer);
  }
  return std::ranges::all_of(expr.args, [&](const ExprPtr& arg) { return AddExpression(*arg); });
}

bool ImageSteps::AddAccess(int buffer, const AffineForm& form) {
  return AddStep(buffer, form.factor[0] * per_index_);
}

bool ImageSteps::AddStep(int buffer, std::int64_t step) {
  return steps_.emplace(buffer, step).first->second == step;
}

}  // namespace pragma::expert
