#include "expert/plan/spread.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

// From this length on, a plain sum of values far from zero loses so much accuracy that it matters
// compared with their spread, since its lanes may all round in the same direction.
constexpr std::int64_t kSpreadFold = 512;

bool SumsFloats(const Step& step) {
  return step.kind == Step::Kind::kFold && step.fold == Fold::kSum &&
         step.expr->type == ExprType::kFloat;
}

bool VariesInside(const ExprPtr& expr, const Nest& nest) {
  for (std::size_t i = 0; i < nest.shape.size(); ++i)
    if (nest.inner[i] && DependsOn(expr, i)) return true;
  return false;
}

// Returns the only reduction of a pass, or nullopt.
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
  // The product is (value - center)^2 or (center - value)^2.
  const ExprPtr& values = nest.steps[*sum].expr;
  const bool after = SameExpression(distance.args[1], values);
  const ExprPtr& value = distance.args[after ? 1 : 0];
  const ExprPtr& center = distance.args[after ? 0 : 1];
  if (!SameExpression(value, values) || VariesInside(center, nest)) return std::nullopt;
  return Spread{*sum, fold, value, center};
}

std::optional<Spread> SpreadAt(const Nest& nest, std::size_t phase) {
  if (phase + 1 >= nest.phases.size() || nest.phases[phase].outer ||
      !SumsOver(nest, nest.phases[phase], kSpreadFold))
    return std::nullopt;
  return SpreadOf(nest, nest.phases[phase], nest.phases[phase + 1]);
}

bool SumsOver(const Nest& nest, const Phase& phase, std::int64_t elements) {
  if (!nest.LaneInside() || nest.InnerCount() < elements) return false;
  bool sums = false;
  for (const std::size_t s : phase.steps) {
    const Step& step = nest.steps[s];
    if (step.kind == Step::Kind::kScan || IsPosition(step)) return false;
    sums = sums || (step.kind == Step::Kind::kFold && step.fold == Fold::kSum);
  }
  return sums;
}

}  // namespace pragma::expert
