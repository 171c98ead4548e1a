#include "expert/cpp/nest_limits.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/nest_context.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

// Returns the only inner dimension on which a bound depends, if it does not depend on the lanes.
std::optional<std::size_t> InnerOf(const Nest& nest, const Bound& bound) {
  std::optional<std::size_t> inner;
  if (nest.lane >= 0 && bound.form.factor[static_cast<std::size_t>(nest.lane)] != 0) return inner;
  for (std::size_t i = 0; i < nest.shape.size(); ++i) {
    if (!nest.inner[i] || bound.form.factor[i] == 0) continue;
    if (inner) return std::nullopt;
    inner = i;
  }
  return inner;
}

}  // namespace

LoopLimits LimitsOf(NestContext& context, const Phase& phase) {
  LoopLimits limits;
  if (phase.steps.size() != 1) return limits;
  const Load* load = SkippableLoad(context.nest.steps[phase.steps[0]]);
  if (load == nullptr) return limits;
  for (const Bound& bound : load->bounds) {
    const std::optional<std::size_t> dimension = InnerOf(context.nest, bound);
    if (!dimension || limits.of.contains(*dimension)) continue;
    limits.assumed.push_back(bound);
    AffineForm rest = bound.form;
    rest.factor[*dimension] = 0;
    const std::string start = FormText(rest, context.loops);
    const std::int64_t step = bound.form.factor[*dimension];
    context.needs.pieces.insert(VectorPiece::kLimits);
    limits.of[*dimension] = {fmt::format("FirstInside({}, {}, {})", start, step, bound.limit),
                             fmt::format("EndInside({}, {}, {}, {})", start, step, bound.limit,
                                         context.nest.shape[*dimension])};
  }
  return limits;
}

const Load* SkippableLoad(const Step& step) {
  if (step.kind != Step::Kind::kFold) return nullptr;
  const Expr& expr = *step.expr;
  if (expr.op == ExprOp::kLoad) {
    const double outside = expr.load.outside;
    const bool same = (step.fold == Fold::kSum && outside == 0) ||
                      ((step.fold == Fold::kMax || step.fold == Fold::kArgMax) &&
                       outside == -std::numeric_limits<double>::infinity());
    return same ? &expr.load : nullptr;
  }
  if (expr.op != ExprOp::kMultiply || step.fold != Fold::kSum) return nullptr;
  const Expr& factor = *expr.args[0];
  const bool zero = factor.op == ExprOp::kLoad && factor.load.outside == 0;
  return zero ? &factor.load : nullptr;
}

void OpenInner(NestContext& context, std::size_t dimension, const LoopLimits& limits) {
  const auto limit = limits.of.find(dimension);
  if (limit == limits.of.end()) return OpenLoop(context, dimension);
  const std::string& loop = context.loops[dimension];
  context.out.Line(fmt::format("for (std::int64_t {0} = {1}, {2} = {3}; {0} < {2}; ++{0}) {{", loop,
                               limit->second.first, loop + "_end", limit->second.second));
}

}  // namespace pragma::expert
