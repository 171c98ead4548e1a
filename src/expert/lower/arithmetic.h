// Short names for the arithmetic from which lowering makes formulas.
#pragma once

#include <utility>

#include "expert/ir/expression.h"

namespace pragma::expert {

[[nodiscard]] inline ExprPtr Plus(ExprPtr a, ExprPtr b) {
  return Make(ExprOp::kAdd, {std::move(a), std::move(b)});
}
[[nodiscard]] inline ExprPtr Sub(ExprPtr a, ExprPtr b) {
  return Make(ExprOp::kSubtract, {std::move(a), std::move(b)});
}
[[nodiscard]] inline ExprPtr Mul(ExprPtr a, ExprPtr b) {
  return Make(ExprOp::kMultiply, {std::move(a), std::move(b)});
}
[[nodiscard]] inline ExprPtr Div(ExprPtr a, ExprPtr b) {
  return Make(ExprOp::kDivide, {std::move(a), std::move(b)});
}
[[nodiscard]] inline ExprPtr Less(ExprPtr a, ExprPtr b) {
  return Make(ExprOp::kLess, {std::move(a), std::move(b)});
}
[[nodiscard]] inline ExprPtr LessEqual(ExprPtr a, ExprPtr b) {
  return Make(ExprOp::kLessEqual, {std::move(a), std::move(b)});
}

}  // namespace pragma::expert
