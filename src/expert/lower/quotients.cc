#include "expert/lower/quotients.h"

#include <cmath>

#include "expert/ir/expression.h"
#include "expert/lower/arithmetic.h"

namespace pragma::expert {
namespace {

bool IsPowerOfTwo(const ExprPtr& expr) {
  int exponent = 0;
  return expr->op == ExprOp::kConstant && expr->type != ExprType::kInt &&
         std::frexp(expr->real, &exponent) == 0.5;
}

ExprPtr Number(double value, const ExprPtr& like) { return Constant(value, like->type); }

// Returns whether a remainder of a division towards zero has another sign than the divisor.
ExprPtr HasOtherSign(const ExprPtr& rest, const ExprPtr& divisor) {
  const ExprPtr signs =
      Make(ExprOp::kXor, {Less(divisor, Number(0, divisor)), Less(rest, Number(0, rest))});
  return Make(ExprOp::kAnd, {Make(ExprOp::kNotEqual, {rest, Number(0, rest)}), signs});
}

}  // namespace

ExprPtr Quotient(const ExprPtr& a, const ExprPtr& b) {
  return a->type == ExprType::kFloat ? Make(ExprOp::kDivideExactly, {a, b}) : Div(a, b);
}

ExprPtr QuotientBy(const ExprPtr& a, const ExprPtr& b) {
  return IsPowerOfTwo(b) ? Mul(a, Number(1 / b->real, a)) : Quotient(a, b);
}

ExprPtr Remainder(const ExprPtr& x, const ExprPtr& y) {
  if (x->type == ExprType::kInt) return Make(ExprOp::kRemainder, {x, y});
  const ExprPtr rest = Make(ExprOp::kTruncRemainder, {x, y});
  return Select(HasOtherSign(rest, y), Plus(rest, y), rest);
}

ExprPtr FloorQuotient(const ExprPtr& x, const ExprPtr& y) {
  if (x->type == ExprType::kInt) return Make(ExprOp::kFloorDivide, {x, y});
  if (IsPowerOfTwo(y)) return Make(ExprOp::kFloor, {QuotientBy(x, y)});
  const ExprPtr rest = Make(ExprOp::kTruncRemainder, {x, y});
  const ExprPtr ratio = Quotient(Sub(x, rest), y);
  const ExprPtr lower = Select(HasOtherSign(rest, y), Sub(ratio, Number(1, x)), ratio);
  const ExprPtr whole = Make(ExprOp::kFloor, {lower});
  const ExprPtr near =
      Select(Less(Number(0.5, x), Sub(lower, whole)), Plus(whole, Number(1, x)), whole);
  const ExprPtr plain = Quotient(x, y);
  const ExprPtr zero = Make(ExprOp::kCopySign, {Number(0, x), plain});
  return Select(Make(ExprOp::kEqual, {y, Number(0, y)}), plain,
                Select(Make(ExprOp::kEqual, {lower, Number(0, x)}), zero, near));
}

}  // namespace pragma::expert
