// Operators on the bits of integers, and predicates of floating-point numbers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/expression.h"
#include "expert/lower/arithmetic.h"
#include "expert/lower/integers.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;
using Args = std::vector<ExprPtr>;

ExprPtr Number(double value, const ExprPtr& like) { return Constant(value, like->type); }

Lower Bits(ExprOp op) {
  return [op](ProgramBuilder& builder, const NodeView& node) -> Values {
    return std::vector{builder.Pointwise({node.Operand(0), node.Operand(1)},
                                         ComputeType(node.dtype()), node.dtype(),
                                         [op](const Args& a) { return Make(op, a); })};
  };
}

// ~x = -1 - x
Values LowerBitwiseNot(ProgramBuilder& builder, const NodeView& node) {
  return std::vector{builder.Pointwise(
      {node.Tensor(0)}, ComputeType(node.dtype()), node.dtype(), [&](const Args& a) {
        if (a[0]->type == ExprType::kBool) return Make(ExprOp::kNot, {a[0]});
        return Wrapped(Make(ExprOp::kSubtract, {Number(-1, a[0]), a[0]}), node.dtype());
      })};
}

// Shifts by a negative number, or by all bits or more, give what torch gives: 0 to the left, and
// the sign in all places to the right.
Lower Shift(ExprOp op) {
  return [op](ProgramBuilder& builder, const NodeView& node) -> Values {
    const DType dtype = node.dtype();
    const double bits = 8 * static_cast<double>(DTypeSize(dtype));
    return std::vector{builder.Pointwise(
        {node.Operand(0), node.Operand(1)}, ExprType::kInt, dtype, [&](const Args& a) {
          const ExprPtr inside = Make(
              ExprOp::kAnd, {LessEqual(Number(0, a[1]), a[1]), Less(a[1], Number(bits, a[1]))});
          const double most = op == ExprOp::kShiftLeft ? 0 : bits - 1;
          const ExprPtr shifted = Make(op, {a[0], Select(inside, a[1], Number(most, a[1]))});
          if (op == ExprOp::kShiftRight) return shifted;
          return Wrapped(Select(inside, shifted, Number(0, a[0])), dtype);
        })};
  };
}

Lower Predicate(std::function<ExprPtr(const ExprPtr&)> test) {
  return [test = std::move(test)](ProgramBuilder& builder, const NodeView& node) -> Values {
    return std::vector{builder.Pointwise({node.Tensor(0)}, std::nullopt, DType::kBool,
                                         [&](const Args& a) { return test(a[0]); })};
  };
}

bool IsReal(const ExprPtr& x) {
  return x->type == ExprType::kFloat || x->type == ExprType::kDouble;
}

ExprPtr IsInfinite(const ExprPtr& x) {
  if (!IsReal(x)) return Constant(0, ExprType::kBool);
  return Make(ExprOp::kEqual, {Make(ExprOp::kAbs, {x}), Number(INFINITY, x)});
}

ExprPtr SignBit(const ExprPtr& x) {
  if (!IsReal(x)) return Less(x, Number(0, x));
  return Make(ExprOp::kLess, {Make(ExprOp::kCopySign, {Number(1, x), x}), Number(0, x)});
}

// The other number where one is NaN.
Lower ExtremeOfNumbers(ExprOp op) {
  return [op](ProgramBuilder& builder, const NodeView& node) -> Values {
    return std::vector{
        builder.Pointwise({node.Operand(0), node.Operand(1)}, ComputeType(node.dtype()),
                          node.dtype(), [op](const Args& a) {
                            if (!IsReal(a[0])) return Make(op, a);
                            return Select(Make(ExprOp::kIsNan, {a[0]}), a[1],
                                          Select(Make(ExprOp::kIsNan, {a[1]}), a[0], Make(op, a)));
                          })};
  };
}

}  // namespace

std::optional<ExprOp> NarrowingTo(DType dtype) {
  switch (dtype) {
    case DType::kInt8: return ExprOp::kToInt8;
    case DType::kInt16: return ExprOp::kToInt16;
    case DType::kInt32: return ExprOp::kToInt32;
    case DType::kUInt8: return ExprOp::kToUint8;
    default: return std::nullopt;
  }
}

ExprPtr Wrapped(const ExprPtr& expr, DType dtype) {
  const std::optional<ExprOp> narrowing = NarrowingTo(dtype);
  const bool fits =
      expr->type != ExprType::kInt || expr->op == ExprOp::kConstant || expr->op == ExprOp::kIndex ||
      expr->op == ExprOp::kLoad || expr->op == ExprOp::kMin || expr->op == ExprOp::kMax ||
      expr->op == ExprOp::kSign || expr->op == ExprOp::kRemainder || expr->op == ExprOp::kAnd ||
      expr->op == ExprOp::kOr || expr->op == ExprOp::kXor || expr->op == ExprOp::kShiftRight;
  return narrowing && !fits ? Make(*narrowing, {expr}) : expr;
}

const LowerTable& IntegerOperators() {
  static const LowerTable kTable{{"bitwise_and", Bits(ExprOp::kAnd)},
                                 {"bitwise_or", Bits(ExprOp::kOr)},
                                 {"bitwise_xor", Bits(ExprOp::kXor)},
                                 {"bitwise_not", LowerBitwiseNot},
                                 {"bitwise_left_shift", Shift(ExprOp::kShiftLeft)},
                                 {"__lshift__", Shift(ExprOp::kShiftLeft)},
                                 {"bitwise_right_shift", Shift(ExprOp::kShiftRight)},
                                 {"__rshift__", Shift(ExprOp::kShiftRight)},
                                 {"isinf", Predicate(IsInfinite)},
                                 {"signbit", Predicate(SignBit)},
                                 {"fmax", ExtremeOfNumbers(ExprOp::kMax)},
                                 {"fmin", ExtremeOfNumbers(ExprOp::kMin)}};
  return kTable;
}

}  // namespace pragma::expert
