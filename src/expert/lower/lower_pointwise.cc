// Element-wise operators. Each becomes one node, or a few nodes, of an expression.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/expression.h"
#include "expert/ir/operators.h"
#include "expert/lower/arithmetic.h"
#include "expert/lower/integers.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"
#include "expert/lower/quotients.h"

namespace pragma::expert {
namespace {

using Args = std::vector<ExprPtr>;

ExprPtr Real(double value, const ExprPtr& like) { return Constant(value, like->type); }

bool IsOne(const ExprPtr& expr) { return expr->op == ExprOp::kConstant && expr->real == 1; }

// Returns 1 + other for 1 + tanh(u) = 2 sigmoid(2 u) and 1 + erf(v) = 2 Phi(sqrt(2) v). This is
// half the work, and nothing cancels where the sum is small. Returns null where `other` is neither.
ExprPtr OneMore(const ExprPtr& other) {
  const auto twice = [&](ExprOp op, double scale) {
    const ExprPtr& arg = other->args[0];
    return Mul(Real(2, arg), Make(op, {Mul(Real(scale, arg), arg)}));
  };
  if (other->type != ExprType::kFloat) return nullptr;
  if (other->op == ExprOp::kTanh) return twice(ExprOp::kSigmoid, 2);
  if (other->op == ExprOp::kErf) return twice(ExprOp::kNormalCdf, M_SQRT2);
  return nullptr;
}

ExprPtr Add(ExprPtr a, ExprPtr b) {
  ExprPtr simpler = IsOne(a) ? OneMore(b) : IsOne(b) ? OneMore(a) : nullptr;
  return simpler ? simpler : Make(ExprOp::kAdd, {std::move(a), std::move(b)});
}

// The constant is the first operand. With a NaN and a constant, both extremes then return the NaN.
ExprPtr Clamped(const ExprPtr& x, double low, double high) {
  ExprPtr result = x;
  if (low > -INFINITY) result = Make(ExprOp::kMax, {Real(low, x), result});
  if (high < INFINITY) result = Make(ExprOp::kMin, {Real(high, x), result});
  return result;
}

// Returns the common type of operands. It is the result's type, unless the result is a bool.
ExprType Common(const std::vector<Value>& values) {
  ExprType type = ExprType::kBool;
  bool wide = false;  // there is a float64 tensor, not only a Python number
  for (const Value& value : values) {
    const ExprType other = ComputeType(value.dtype);
    if (other == ExprType::kDouble && !(value.shape.empty() && value.expr->op == ExprOp::kConstant))
      wide = true;
    if (other == ExprType::kInt && type == ExprType::kBool) type = ExprType::kInt;
    if (other == ExprType::kFloat || other == ExprType::kDouble) type = ExprType::kFloat;
  }
  return wide ? ExprType::kDouble : type;
}

std::vector<Value> Operands(const NodeView& node, std::size_t count) {
  std::vector<Value> operands;
  for (std::size_t i = 0; i < count; ++i) operands.push_back(node.Operand(i));
  return operands;
}

ExprType ResultType(const NodeView& node) { return ComputeType(node.dtype()); }

using Formula = std::function<ExprPtr(const Args&, const NodeView&)>;

// The formula is computed in the result's type.
Lower Element(std::size_t count, Formula formula) {
  return [=](ProgramBuilder& builder, const NodeView& node) -> Result<std::vector<Value>> {
    return std::vector{builder.Pointwise(
        Operands(node, count), ResultType(node), node.dtype(),
        [&](const Args& args) { return Wrapped(formula(args, node), node.dtype()); })};
  };
}

Lower Plain(ExprOp op, std::size_t count) {
  return Element(count, [op](const Args& args, const NodeView&) { return Make(op, args); });
}

Lower Comparison(Formula formula) {
  return [=](ProgramBuilder& builder, const NodeView& node) -> Result<std::vector<Value>> {
    const std::vector<Value> operands = Operands(node, 2);
    return std::vector{builder.Pointwise(operands, Common(operands), DType::kBool,
                                         [&](const Args& args) { return formula(args, node); })};
  };
}

// add and sub multiply their second operand by a factor `alpha`.
Lower Scaled(ExprOp op) {
  return Element(2, [op](const Args& args, const NodeView& node) {
    const double alpha = node.Real(2, "alpha", 1);
    const ExprPtr second = alpha == 1 ? args[1] : Mul(Real(alpha, args[1]), args[1]);
    return op == ExprOp::kAdd ? Add(args[0], second) : Make(op, {args[0], second});
  });
}

ExprPtr Division(const Args& args, const NodeView& node) {
  const std::string mode = node.Text(2, "rounding_mode");
  if (mode == "floor") return FloorQuotient(args[0], args[1]);
  if (mode != "trunc") return QuotientBy(args[0], args[1]);
  const ExprPtr ratio = Quotient(args[0], args[1]);
  return args[0]->type == ExprType::kInt ? ratio : Make(ExprOp::kTrunc, {ratio});
}

ExprPtr Power(const Args& args, const NodeView&) {
  const ExprPtr& x = args[0];
  if (args[1]->op == ExprOp::kConstant) {
    const double power =
        args[1]->type == ExprType::kInt ? static_cast<double>(args[1]->integer) : args[1]->real;
    if (power == 1) return x;
    if (power == 2) return Mul(x, x);
    if (power == 3) return Mul(Mul(x, x), x);
    if (power == 4) return Mul(Mul(x, x), Mul(x, x));
    if (power == 0.5) return Make(ExprOp::kSquareRoot, {x});
    if (power == -1) return Div(Real(1, x), x);
    if (power == -0.5) return Div(Real(1, x), Make(ExprOp::kSquareRoot, {x}));
    if (power == -2) return Div(Real(1, x), Mul(x, x));
  }
  return Make(ExprOp::kPower, args);
}

ExprPtr Gelu(const Args& args, const NodeView& node) {
  const ExprPtr& x = args[0];
  if (node.Text(1, "approximate") != "tanh") return Mul(x, Make(ExprOp::kNormalCdf, {x}));
  const ExprPtr cubic = Add(x, Mul(Real(0.044715, x), Mul(Mul(x, x), x)));
  // x (1 + tanh(u)) / 2 = x sigmoid(2 u)
  return Mul(x, Make(ExprOp::kSigmoid, {Mul(Real(2 * M_2_SQRTPI * M_SQRT1_2, x), cubic)}));
}

ExprPtr Elu(const Args& args, const NodeView& node) {
  const ExprPtr& x = args[0];
  const double alpha = node.Real(1, "alpha", 1);
  const double scale = node.Real(2, "scale", 1);
  const double input_scale = node.Real(3, "input_scale", 1);
  const ExprPtr negative =
      Mul(Real(alpha * scale, x), Make(ExprOp::kExpMinus1, {Mul(Real(input_scale, x), x)}));
  return Select(Less(Real(0, x), x), Mul(Real(scale, x), x), negative);
}

// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), which does not overflow for any x.
ExprPtr Softplus(const Args& args, const NodeView& node) {
  const ExprPtr& x = args[0];
  const double beta = node.Real(1, "beta", 1);
  const ExprPtr scaled = Mul(x, Real(beta, x));
  const ExprPtr tail =
      Make(ExprOp::kLog1Plus,
           {Make(ExprOp::kExpNegative, {Make(ExprOp::kNegate, {Make(ExprOp::kAbs, {scaled})})})});
  const ExprPtr soft = Mul(Add(Clamped(scaled, 0, INFINITY), tail), Real(1 / beta, x));
  return Select(Less(Real(node.Real(2, "threshold", 20), x), scaled), x, soft);
}

ExprPtr LeakyRelu(const Args& args, const NodeView& node) {
  const ExprPtr& x = args[0];
  return Select(Less(Real(0, x), x), x, Mul(x, Real(node.Real(1, "negative_slope", 0.01), x)));
}

ExprPtr Silu(const Args& args, const NodeView&) {
  return Mul(args[0], Make(ExprOp::kSigmoid, {args[0]}));
}

// relu6(x + 3) / 6
ExprPtr HardGate(const ExprPtr& x) {
  return Mul(Clamped(Add(x, Real(3, x)), 0, 6), Real(1.0 / 6, x));
}

ExprPtr Threshold(const Args& args, const NodeView& node) {
  const ExprPtr& x = args[0];
  const ExprPtr limit = Real(node.Real(1, "threshold", 0), x);
  return Select(Make(ExprOp::kLessEqual, {x, limit}), Real(node.Real(2, "value", 0), x), x);
}

Result<std::vector<Value>> LowerClamp(ProgramBuilder& builder, const NodeView& node) {
  std::vector<Value> operands{node.Tensor(0)};
  std::vector<ExprOp> extremes;
  const bool low = node.Has(1, "min");
  if (low) {
    operands.push_back(node.IsTensor(1)
                           ? node.Tensor(1)
                           : ProgramBuilder::Number(node.Real(1, "min", 0), node.dtype()));
    extremes.push_back(ExprOp::kMax);
  }
  if (node.Has(2, "max")) {
    operands.push_back(node.IsTensor(2)
                           ? node.Tensor(2)
                           : ProgramBuilder::Number(node.Real(2, "max", 0), node.dtype()));
    extremes.push_back(ExprOp::kMin);
  }
  const auto combine = [&](const Args& args) {
    ExprPtr result = args[0];
    for (std::size_t i = 0; i < extremes.size(); ++i)
      result = Make(extremes[i], {args[i + 1], result});
    return result;
  };
  return std::vector{builder.Pointwise(operands, ResultType(node), node.dtype(), combine)};
}

Result<std::vector<Value>> LowerWhere(ProgramBuilder& builder, const NodeView& node) {
  const ExprType type = ResultType(node);
  return std::vector{
      builder.Pointwise(Operands(node, 3), std::nullopt, node.dtype(), [type](const Args& args) {
        return Select(Cast(args[0], ExprType::kBool), Cast(args[1], type), Cast(args[2], type));
      })};
}

Result<std::vector<Value>> LowerMaskedFill(ProgramBuilder& builder, const NodeView& node) {
  const ExprType type = ResultType(node);
  return std::vector{
      builder.Pointwise(Operands(node, 3), std::nullopt, node.dtype(), [type](const Args& args) {
        return Select(Cast(args[1], ExprType::kBool), Cast(args[2], type), Cast(args[0], type));
      })};
}

Result<std::vector<Value>> LowerCopy(ProgramBuilder& builder, const NodeView& node) {
  const DType from = node.Tensor(0).dtype;
  const std::optional<ExprOp> narrowing = NarrowingTo(node.dtype());
  const bool narrows = narrowing && from != node.dtype() && from != DType::kBool;
  return std::vector{builder.Pointwise(
      {node.Tensor(0)}, ResultType(node), node.dtype(),
      [&](const Args& args) { return narrows ? Make(*narrowing, {args[0]}) : args[0]; })};
}

Result<std::vector<Value>> LowerNot(ProgramBuilder& builder, const NodeView& node) {
  if (node.dtype() != DType::kBool) return Unsupported(node, "of integers");
  return std::vector{builder.Pointwise({node.Tensor(0)}, ExprType::kBool, DType::kBool,
                                       [](const Args& args) { return Make(ExprOp::kNot, args); })};
}

Result<std::vector<Value>> LowerIsNan(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  return std::vector{
      builder.Pointwise({x}, ComputeType(x.dtype), DType::kBool,
                        [](const Args& args) { return Make(ExprOp::kIsNan, args); })};
}

Lower Logical(ExprOp op) {
  return [op](ProgramBuilder& builder, const NodeView& node) -> Result<std::vector<Value>> {
    if (node.dtype() != DType::kBool) return Unsupported(node, "of integers");
    return std::vector{builder.Pointwise(Operands(node, 2), ExprType::kBool, DType::kBool,
                                         [op](const Args& args) { return Make(op, args); })};
  };
}

// torch.maximum and torch.minimum return NaN where either operand is NaN. The processor's
// instruction returns NaN only where its second operand is NaN.
Lower Extreme(ExprOp op) {
  return Element(2, [op](const Args& args, const NodeView&) {
    const ExprPtr plain = Make(op, {args[0], args[1]});
    if (args[0]->type == ExprType::kInt || args[0]->type == ExprType::kBool) return plain;
    if (args[0]->op == ExprOp::kConstant) return plain;
    if (args[1]->op == ExprOp::kConstant) return Make(op, {args[1], args[0]});
    return Select(Make(ExprOp::kIsNan, {args[0]}), args[0], plain);
  });
}

LowerTable Activations() {
  using Node = const NodeView&;
  LowerTable table;
  table["relu"] = Element(1, [](const Args& a, Node) { return Clamped(a[0], 0, INFINITY); });
  table["relu6"] = Element(1, [](const Args& a, Node) { return Clamped(a[0], 0, 6); });
  table["gelu"] = Element(1, Gelu);
  table["elu"] = Element(1, Elu);
  table["softplus"] = Element(1, Softplus);
  table["leaky_relu"] = Element(1, LeakyRelu);
  table["silu"] = Element(1, Silu);
  table["threshold"] = Element(1, Threshold);
  table["hardtanh"] = Element(1, [](const Args& a, Node node) {
    return Clamped(a[0], node.Real(1, "min_val", -1), node.Real(2, "max_val", 1));
  });
  table["hardsigmoid"] = Element(1, [](const Args& a, Node) { return HardGate(a[0]); });
  table["hardswish"] = Element(1, [](const Args& a, Node) { return Mul(a[0], HardGate(a[0])); });
  table["mish"] = Element(1, [](const Args& a, Node node) {
    return Mul(a[0], Make(ExprOp::kTanh, {Softplus(a, node)}));
  });
  table["log_sigmoid_forward"] = Element(1, [](const Args& a, Node node) {
    return Make(ExprOp::kNegate, {Softplus({Make(ExprOp::kNegate, {a[0]})}, node)});
  });
  table["square"] = Element(1, [](const Args& a, Node) { return Mul(a[0], a[0]); });
  table["reciprocal"] =
      Element(1, [](const Args& a, Node) { return Quotient(Real(1, a[0]), a[0]); });
  table["rsqrt"] = Element(
      1, [](const Args& a, Node) { return Div(Real(1, a[0]), Make(ExprOp::kSquareRoot, {a[0]})); });
  return table;
}

void AddFunctions(LowerTable& table) {
  for (const Operator& known : Operators())
    if (!known.aten.empty())
      table[known.aten] = Plain(known.op, static_cast<std::size_t>(known.arguments));
  table["exp"] = Element(1, [](const Args& a, const NodeView&) {
    const bool difference = a[0]->op == ExprOp::kSubtract;
    return Make(ExprOp::kExp,
                {difference ? RoundedDifference(a[0]->args[0], a[0]->args[1]) : a[0]});
  });
  table["add"] = Scaled(ExprOp::kAdd);
  table["sub"] = Scaled(ExprOp::kSubtract);
  table["rsub"] = Element(2, [](const Args& a, const NodeView&) { return Sub(a[1], a[0]); });
  table["div"] = Element(2, Division);
  table["round"] = Element(1, [](const Args& a, const NodeView& node) {
    const std::int64_t decimals = node.Int(1, "decimals", 0);
    if (decimals == 0 || a[0]->type == ExprType::kInt) return Make(ExprOp::kRound, a);
    const ExprPtr power = Real(std::pow(10.0, std::abs(static_cast<double>(decimals))), a[0]);
    if (decimals > 0) return Quotient(Make(ExprOp::kRound, {Mul(a[0], power)}), power);
    return Mul(Make(ExprOp::kRound, {Quotient(a[0], power)}), power);
  });
  table["floor_divide"] =
      Element(2, [](const Args& a, const NodeView&) { return FloorQuotient(a[0], a[1]); });
  table["remainder"] =
      Element(2, [](const Args& a, const NodeView&) { return Remainder(a[0], a[1]); });
  table["pow"] = Element(2, Power);
  table["maximum"] = Extreme(ExprOp::kMax);
  table["minimum"] = Extreme(ExprOp::kMin);
  table["addcmul"] = Element(3, [](const Args& a, const NodeView& node) {
    return Add(a[0], Mul(Real(node.Real(3, "value", 1), a[0]), Mul(a[1], a[2])));
  });
  table["addcdiv"] = Element(3, [](const Args& a, const NodeView& node) {
    return Add(a[0], Mul(Real(node.Real(3, "value", 1), a[0]), Div(a[1], a[2])));
  });
  table["lerp"] = Element(
      3, [](const Args& a, const NodeView&) { return Add(a[0], Mul(a[2], Sub(a[1], a[0]))); });
}

void AddComparisons(LowerTable& table) {
  using Node = const NodeView&;
  table["eq"] = Comparison([](const Args& a, Node) { return Make(ExprOp::kEqual, a); });
  table["ne"] = Comparison([](const Args& a, Node) { return Make(ExprOp::kNotEqual, a); });
  table["lt"] = Comparison([](const Args& a, Node) { return Less(a[0], a[1]); });
  table["gt"] = Comparison([](const Args& a, Node) { return Less(a[1], a[0]); });
  table["le"] = Comparison([](const Args& a, Node) { return Make(ExprOp::kLessEqual, a); });
  table["ge"] =
      Comparison([](const Args& a, Node) { return Make(ExprOp::kLessEqual, {a[1], a[0]}); });
  table["logical_and"] = Logical(ExprOp::kAnd);
  table["logical_or"] = Logical(ExprOp::kOr);
  table["logical_xor"] = Logical(ExprOp::kXor);
  table["logical_not"] = LowerNot;
  table["isnan"] = LowerIsNan;
}

}  // namespace

const LowerTable& PointwiseOperators() {
  static const LowerTable kTable = [] {
    LowerTable table = Activations();
    AddFunctions(table);
    AddComparisons(table);
    table["clamp"] = table["clamp_min"] = LowerClamp;
    table["clamp_max"] =
        Element(2, [](const Args& a, const NodeView&) { return Make(ExprOp::kMin, {a[1], a[0]}); });
    table["where"] = LowerWhere;
    table["masked_fill"] = LowerMaskedFill;
    for (const char* name :
         {"_to_copy", "clone", "alias", "detach", "contiguous", "lift_fresh_copy", "to", "type_as"})
      table[name] = LowerCopy;
    return table;
  }();
  return kTable;
}

}  // namespace pragma::expert
