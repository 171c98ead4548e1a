#include "expert/triton/one_pass.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert::triton {
namespace {

bool IsFoldOf(const Step& step, Fold fold) {
  return step.kind == Step::Kind::kFold && step.fold == fold && step.expr->type == ExprType::kFloat;
}

bool IsLoadOf(const ExprPtr& expr, int buffer) {
  return IsPlainLoad(*expr) && expr->load.buffer == buffer;
}

}  // namespace

std::optional<Powers> PowersOf(const Nest& nest, const Phase& first, const Phase& second) {
  if (first.outer || second.outer || first.steps.size() != 1) return std::nullopt;
  const Step& largest = nest.steps[first.steps[0]];
  const Step& sum = nest.steps[second.steps.back()];
  if (!IsFoldOf(largest, Fold::kMax) || !IsFoldOf(sum, Fold::kSum)) return std::nullopt;
  ExprPtr power = sum.expr;
  // The exponentials are a step of their own, which is computed again where it is read.
  if (second.steps.size() == 2) {
    const Step& kept = nest.steps[second.steps[0]];
    if (kept.kind != Step::Kind::kMap || !IsLoadOf(power, kept.buffer) ||
        !nest.forwarded.contains(kept.buffer))
      return std::nullopt;
    power = kept.expr;
  }
  if (second.steps.size() > 2 || !IsExponential(power->op) ||
      power->args[0]->op != ExprOp::kSubtract)
    return std::nullopt;
  const std::vector<ExprPtr>& distance = power->args[0]->args;
  if (!SameExpression(distance[0], largest.expr) || !IsLoadOf(distance[1], largest.buffer))
    return std::nullopt;
  return Powers{first.steps[0], second.steps.back(), largest.expr};
}

}  // namespace pragma::expert::triton
