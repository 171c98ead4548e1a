// NestLimits: restricts inner loops to the iterations whose loads are inside their bounds.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/nest_spread.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

class NestLimits : public NestSpread {
 protected:
  using NestSpread::NestSpread;
  ~NestLimits() = default;

  struct LoopLimits {
    std::vector<Bound> assumed;
    std::map<std::size_t, std::pair<std::string, std::string>> of;  // dimension -> first and end,
                                                                    // as code
  };

  // Returns limits where skipping the loads outside the bounds changes nothing: they would only add
  // zeros, or compare with the identity of the maximum. The phase must be a single reduction, so
  // that no other step shares its loops.
  [[nodiscard]] LoopLimits LimitsOf(const Phase& phase) {
    LoopLimits limits;
    if (phase.steps.size() != 1) return limits;
    const Step& step = nest_.steps[phase.steps[0]];
    const Load* load = SkippableLoad(step);
    if (load == nullptr) return limits;
    for (const Bound& bound : load->bounds) {
      int inner = -1;
      bool fits = nest_.lane < 0 || bound.form.factor[static_cast<std::size_t>(nest_.lane)] == 0;
      for (std::size_t i = 0; i < nest_.shape.size(); ++i) {
        if (!nest_.inner[i] || bound.form.factor[i] == 0) continue;
        fits = fits && inner < 0;
        inner = static_cast<int>(i);
      }
      const auto dimension = static_cast<std::size_t>(std::max(inner, 0));
      if (!fits || inner < 0 || limits.of.contains(dimension)) continue;
      limits.assumed.push_back(bound);
      AffineForm rest = bound.form;
      rest.factor[dimension] = 0;
      const std::string start = FormText(rest, loops_);
      const std::int64_t step_size = bound.form.factor[dimension];
      needs_.pieces.insert(VectorPiece::kLimits);
      limits.of[dimension] = {fmt::format("FirstInside({}, {}, {})", start, step_size, bound.limit),
                              fmt::format("EndInside({}, {}, {}, {})", start, step_size,
                                          bound.limit, nest_.shape[dimension])};
    }
    return limits;
  }

  [[nodiscard]] static const Load* SkippableLoad(const Step& step) {
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

  void OpenInner(std::size_t i, const LoopLimits& limits) {
    const auto limit = limits.of.find(i);
    if (limit == limits.of.end()) return Loop(loops_[i], "0", std::to_string(nest_.shape[i]));
    const std::string end = loops_[i] + "_end";
    out_.Line(fmt::format("for (std::int64_t {0} = {1}, {2} = {3}; {0} < {2}; ++{0}) {{", loops_[i],
                          limit->second.first, end, limit->second.second));
  }
};

}  // namespace pragma::expert
