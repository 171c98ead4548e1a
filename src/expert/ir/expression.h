// Expr: what one element of a value is, as a tree over loads from buffers. Immutable and shared;
// every form in it is over the dimensions of the shape that it is an element of.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"

namespace pragma::expert {

enum class ExprType : std::uint8_t { kFloat, kDouble, kInt, kBool };
[[nodiscard]] ExprType ComputeType(DType dtype);  // half precision is computed in float

enum class ExprOp : std::uint8_t {
  kConstant,
  kLoad,
  kIndex,  // the value of a form: arange, row and column numbers
  kCast,
  // one argument
  kNegate,
  kAbs,
  kSquareRoot,
  kReciprocal,
  kExp,
  kExpNegative,  // exp of what is at most 0
  kExpMinus1,
  kLog,
  kLog1Plus,
  kSin,
  kCos,
  kTan,
  kTanh,
  kSigmoid,
  kErf,
  kNormalCdf,  // (1 + erf(x / sqrt(2))) / 2
  kFloor,
  kCeil,
  kTrunc,
  kRound,
  kSign,
  kNot,
  kIsNan,
  // two
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kRemainder,  // the divisor's sign, as Python's
  kTruncRemainder,
  kPower,
  kMin,
  kMax,
  kAtan2,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kAnd,
  kOr,
  kXor,
  // three: condition, then, otherwise
  kSelect,
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

// A load is valid where 0 <= form < limit.
struct Bound {
  AffineForm form;
  std::int64_t limit = 0;
  friend bool operator==(const Bound&, const Bound&) = default;
};

// A part of an address that is only known from data: stride * index.
struct Indirect {
  ExprPtr index;
  std::int64_t stride = 0;
};

struct Load {
  int buffer = 0;
  AffineForm address;
  std::vector<Bound> bounds;
  double outside = 0;  // the value where a bound does not hold
  std::vector<Indirect> indirect;
};

struct Expr {
  ExprOp op = ExprOp::kConstant;
  ExprType type = ExprType::kFloat;
  double real = 0;           // constant of a floating type
  std::int64_t integer = 0;  // constant of an integer type or bool
  Load load;
  AffineForm index;  // kIndex
  std::vector<ExprPtr> args;
};

[[nodiscard]] ExprPtr Constant(double value, ExprType type);
[[nodiscard]] ExprPtr LoadOf(int buffer, AffineForm address, ExprType type);
[[nodiscard]] ExprPtr IndexOf(AffineForm form);
[[nodiscard]] ExprPtr Cast(ExprPtr value, ExprType type);
// The result's type is the first argument's, or bool where the operator says yes or no.
[[nodiscard]] ExprPtr Make(ExprOp op, std::vector<ExprPtr> args);
[[nodiscard]] ExprPtr Select(ExprPtr condition, ExprPtr then, ExprPtr otherwise);

// The same expression with every form changed; none where `change` fails for one.
using FormChange = std::function<std::optional<AffineForm>(const AffineForm&)>;
[[nodiscard]] ExprPtr WithForms(const ExprPtr& expr, const FormChange& change);
// The same with every load replaced.
using LoadChange = std::function<ExprPtr(const Expr& load)>;
[[nodiscard]] ExprPtr WithLoads(const ExprPtr& expr, const LoadChange& change);

// Whether any form of it says so, those of bounds and of indirect parts included.
using FormTest = std::function<bool(const AffineForm&)>;
[[nodiscard]] bool AnyForm(const ExprPtr& expr, const FormTest& test);
// How often each part is asked for; what is below a part counts once for it.
using UseCounts = std::map<const Expr*, int>;
void CountUses(const ExprPtr& expr, UseCounts& uses);
void VisitLoads(const ExprPtr& expr, const std::function<void(const Load&, ExprType)>& visit);
[[nodiscard]] bool Loads(const ExprPtr& expr, int buffer);
// Whether both are the same tree, operator by operator and number by number.
[[nodiscard]] bool SameExpression(const ExprPtr& a, const ExprPtr& b);
[[nodiscard]] constexpr bool IsExponential(ExprOp op) {
  return op == ExprOp::kExp || op == ExprOp::kExpNegative;
}
[[nodiscard]] bool IsPlainLoad(const Expr& expr);  // neither bounds nor indirect parts

// About how many simple vector instructions one element costs.
[[nodiscard]] double Cost(const ExprPtr& expr);

}  // namespace pragma::expert
