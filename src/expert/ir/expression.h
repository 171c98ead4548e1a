// Expr: an expression tree over loads from buffers that gives one element of a value. Nodes are
// immutable and shared. Every form in an expression is over the dimensions of the shape whose
// element the expression describes.
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
  // Operators with one argument.
  kNegate,
  kAbs,
  kSquareRoot,
  kReciprocal,
  kExp,
  kExpNegative,  // exp of an argument that is at most 0
  kExpMinus1,
  kExp2,
  kLog,
  kLog1Plus,
  kLog2,
  kLog10,
  kSin,
  kCos,
  kTan,
  kArcSin,
  kArcCos,
  kArcTan,
  kSinh,
  kCosh,
  kTanh,
  kArcSinh,
  kArcCosh,
  kArcTanh,
  kSigmoid,
  kErf,
  kErfComplement,
  kLogGamma,
  kNormalCdf,  // (1 + erf(x / sqrt(2))) / 2
  kFloor,
  kCeil,
  kTrunc,
  kRound,
  kSign,
  kNot,
  kIsNan,
  kTf32,  // rounded to TF32, which has 10 bits of mantissa; a finite number stays finite
  // The integer's last bits as a value of the narrower type, as arithmetic on that type wraps.
  kToInt8,
  kToInt16,
  kToInt32,
  kToUint8,
  // Operators with two arguments.
  kAdd,
  kSubtract,
  kMultiply,
  kRoundedProduct,  // as kMultiply, but rounded before anything else reads it: never a part of an
                    // FMA
  kDivide,
  kDivideExactly,  // as kDivide, correctly rounded in every dialect; not for float64
  kFloorDivide,
  kRemainder,  // the result has the divisor's sign, as in Python
  kTruncRemainder,
  kPower,
  kMin,
  kMax,
  kAtan2,
  kHypotenuse,
  kCopySign,
  kNextAfter,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,   // of integers, by 0 to 63 places
  kShiftRight,  // keeps the sign
  // Operator with three arguments: condition, then, otherwise.
  kSelect,
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

// Restricts a load: it is valid where 0 <= form < limit.
struct Bound {
  AffineForm form;
  std::int64_t limit = 0;
  friend bool operator==(const Bound&, const Bound&) = default;
};

// A data-dependent part of an address: stride * index.
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
  double real = 0;           // value of a constant of a floating type
  std::int64_t integer = 0;  // value of a constant of an integer type or bool
  Load load;
  AffineForm index;  // the form of kIndex
  std::vector<ExprPtr> args;
};

[[nodiscard]] ExprPtr Constant(double value, ExprType type);
[[nodiscard]] ExprPtr LoadOf(int buffer, AffineForm address, ExprType type);
[[nodiscard]] ExprPtr IndexOf(AffineForm form);
[[nodiscard]] ExprPtr Cast(ExprPtr value, ExprType type);
// Makes an operator node. The result's type is the type of the first argument, or bool where the
// operator is a comparison or a predicate.
[[nodiscard]] ExprPtr Make(ExprOp op, std::vector<ExprPtr> args);
// Returns a - b for an exponent. A compiler fuses the subtraction with a product before it, and the
// product's rounding would then show: beside 1e30, by far more than an exponential bears. So a
// product is rounded first.
[[nodiscard]] ExprPtr RoundedDifference(const ExprPtr& a, const ExprPtr& b);
[[nodiscard]] ExprPtr Select(ExprPtr condition, ExprPtr then, ExprPtr otherwise);

// Returns the expression with every form changed, or null where `change` fails for one of them.
using FormChange = std::function<std::optional<AffineForm>(const AffineForm&)>;
[[nodiscard]] ExprPtr WithForms(const ExprPtr& expr, const FormChange& change);
// Returns the expression with every load replaced.
using LoadChange = std::function<ExprPtr(const Expr& load)>;
[[nodiscard]] ExprPtr WithLoads(const ExprPtr& expr, const LoadChange& change);

// Returns whether `test` holds for any form of the expression, including the forms of bounds and of
// indirect parts.
using FormTest = std::function<bool(const AffineForm&)>;
[[nodiscard]] bool AnyForm(const ExprPtr& expr, const FormTest& test);
// Returns whether a value varies with a dimension of the forms' shape.
[[nodiscard]] bool DependsOn(const ExprPtr& expr, std::size_t dimension);
// Counts how often each node is used. A node's arguments count once, however often the node is
// used.
using UseCounts = std::map<const Expr*, int>;
void CountUses(const ExprPtr& expr, UseCounts& uses);
void VisitLoads(const ExprPtr& expr, const std::function<void(const Load&, ExprType)>& visit);
[[nodiscard]] bool Loads(const ExprPtr& expr, int buffer);
// Returns whether both are the same tree, operator by operator and number by number.
[[nodiscard]] bool SameExpression(const ExprPtr& a, const ExprPtr& b);
[[nodiscard]] constexpr bool IsExponential(ExprOp op) {
  return op == ExprOp::kExp || op == ExprOp::kExpNegative;
}
[[nodiscard]] bool IsPlainLoad(const Expr& expr);  // neither bounds nor indirect parts

// Estimates how many simple vector instructions one element costs.
[[nodiscard]] double Cost(const ExprPtr& expr);

}  // namespace pragma::expert
