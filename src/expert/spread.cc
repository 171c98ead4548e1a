#include "expert/spread.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "expert/expression.h"
#include "expert/nest.h"
#include "expert/program.h"

namespace pragma {
namespace {

bool SumsFloats(const Step& step) {
  return step.kind == Step::Kind::kFold && step.fold == Fold::kSum &&
         step.expr->type == ExprType::kFloat;
}

bool VariesInside(const ExprPtr& expr, const Nest& nest) {
  for (std::size_t i = 0; i < nest.shape.size(); ++i)
    if (nest.inner[i] && DependsOn(expr, i)) return true;
  return false;
}

// The only fold of a pass.
std::optional<std::size_t> FoldOf(const Nest& nest, const Phase& phase) {
  std::optional<std::size_t> fold;
  for (const std::size_t s : phase.steps) {
    if (nest.steps[s].kind == Step::Kind::kMap) continue;
    if (fold) return std::nullopt;
    fold = s;
  }
  return fold;
}

}  // namespace

std::optional<Spread> SpreadOf(const Nest& nest, const Phase& first, const Phase& second) {
  if (first.outer || second.outer || second.steps.size() != 1) return std::nullopt;
  const std::optional<std::size_t> sum = FoldOf(nest, first);
  const std::size_t fold = second.steps[0];
  if (!sum || !SumsFloats(nest.steps[*sum]) || !SumsFloats(nest.steps[fold])) return std::nullopt;
  const Expr& square = *nest.steps[fold].expr;
  if (square.op != ExprOp::kMultiply || !SameExpression(square.args[0], square.args[1]))
    return std::nullopt;
  const Expr& distance = *square.args[0];
  if (distance.op != ExprOp::kSubtract) return std::nullopt;
  // (value - center)^2, or (center - value)^2.
  const ExprPtr& values = nest.steps[*sum].expr;
  const bool after = SameExpression(distance.args[1], values);
  const ExprPtr& value = distance.args[after ? 1 : 0];
  const ExprPtr& center = distance.args[after ? 0 : 1];
  if (!SameExpression(value, values) || VariesInside(center, nest)) return std::nullopt;
  return Spread{*sum, fold, value, center};
}

}  // namespace pragma
