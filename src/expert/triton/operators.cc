#include "expert/triton/operators.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "core/task.h"
#include "expert/ir/expression.h"
#include "expert/ir/spelling.h"

namespace pragma::expert::triton {
namespace {

bool IsReal(ExprType type) { return type == ExprType::kFloat || type == ExprType::kDouble; }

// Returns the name of a function. For some of these, the functions of tl are approximations. Those
// of libdevice are accurate to the last bit or two.
std::string_view FunctionName(ExprOp op) {
  switch (op) {
    case ExprOp::kAbs: return "tl.abs";
    case ExprOp::kSquareRoot: return "libdevice.sqrt";
    case ExprOp::kExp:
    case ExprOp::kExpNegative: return "libdevice.exp";
    case ExprOp::kExpMinus1: return "libdevice.expm1";
    case ExprOp::kLog: return "libdevice.log";
    case ExprOp::kLog1Plus: return "libdevice.log1p";
    case ExprOp::kSin: return "libdevice.sin";
    case ExprOp::kCos: return "libdevice.cos";
    case ExprOp::kTan: return "libdevice.tan";
    case ExprOp::kTanh: return "libdevice.tanh";
    case ExprOp::kErf: return "libdevice.erf";
    case ExprOp::kFloor: return "tl.floor";
    case ExprOp::kCeil: return "tl.ceil";
    case ExprOp::kTrunc: return "libdevice.trunc";
    case ExprOp::kRound: return "libdevice.rint";
    default: return "";
  }
}

// Returns Python's remainder, which has the sign of the divisor.
std::string RemainderText(const std::string& a, const std::string& b, ExprType type) {
  if (!IsReal(type))
    return fmt::format(
        "tl.where(({0} % {1} != 0) & (({0} < 0) != ({1} < 0)), {0} % {1} + {1}, {0} % {1})", a, b);
  const std::string rest = fmt::format("libdevice.fmod({}, {})", a, b);
  return fmt::format("tl.where(({0} != 0) & (({0} < 0) != ({1} < 0)), {0} + {1}, {0})", rest, b);
}

std::string FloorDivideText(const std::string& a, const std::string& b, ExprType type) {
  if (IsReal(type)) return fmt::format("tl.floor({} / {})", a, b);
  return fmt::format("({0} // {1} - (({0} % {1} != 0) & (({0} < 0) != ({1} < 0))))", a, b);
}

}  // namespace

std::string NumberText(double value) {
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "-float(\"inf\")" : "float(\"inf\")";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string ConstantText(const Expr& constant) {
  switch (constant.type) {
    case ExprType::kFloat: {
      const bool large = std::abs(constant.real) > 3.4028235e38;
      return NumberText(large ? std::copysign(INFINITY, constant.real) : constant.real);
    }
    case ExprType::kDouble: return NumberText(constant.real);
    case ExprType::kInt: return std::to_string(constant.integer);
    case ExprType::kBool: return constant.integer != 0 ? "True" : "False";
  }
  return "";
}

std::string UnaryText(ExprOp op, const std::string& arg, ExprType type) {
  if (const std::string_view name = FunctionName(op); !name.empty()) {
    const bool rounds =
        op == ExprOp::kFloor || op == ExprOp::kCeil || op == ExprOp::kTrunc || op == ExprOp::kRound;
    return rounds && !IsReal(type) ? arg : fmt::format("{}({})", name, arg);
  }
  switch (op) {
    case ExprOp::kNegate: return fmt::format("(-{})", arg);
    case ExprOp::kNot: return fmt::format("({} == 0)", arg);
    case ExprOp::kIsNan: return fmt::format("({0} != {0})", arg);
    case ExprOp::kReciprocal: return fmt::format("(1.0 / {})", arg);
    case ExprOp::kSigmoid: return fmt::format("(1.0 / (1.0 + libdevice.exp(-{})))", arg);
    case ExprOp::kNormalCdf:
      return fmt::format("(0.5 * libdevice.erfc({} * {}))", NumberText(-M_SQRT1_2), arg);
    case ExprOp::kSign:
      return fmt::format("tl.where({0} > 0, {1}, tl.where({0} < 0, -{1}, {2}))", arg,
                         IsReal(type) ? "1.0" : "1", IsReal(type) ? arg + " * 0.0" : "0");
    default: return arg;
  }
}

std::string ExtremeText(bool largest, const std::string& a, const std::string& b, ExprType type) {
  if (type == ExprType::kBool) return fmt::format("({} {} {})", a, largest ? "|" : "&", b);
  return fmt::format("tl.{}({}, {}{})", largest ? "maximum" : "minimum", a, b,
                     IsReal(type) ? ", propagate_nan=tl.PropagateNan.ALL" : "");
}

std::string BinaryText(ExprOp op, const std::string& a, const std::string& b, ExprType type) {
  if (const std::string_view sign = Operator(op); !sign.empty())
    return fmt::format("({} {} {})", a, sign, b);
  switch (op) {
    case ExprOp::kMin: return ExtremeText(false, a, b, type);
    case ExprOp::kMax: return ExtremeText(true, a, b, type);
    case ExprOp::kPower: return fmt::format("libdevice.pow({}, {})", a, b);
    case ExprOp::kAtan2: return fmt::format("libdevice.atan2({}, {})", a, b);
    case ExprOp::kTruncRemainder:
      return IsReal(type) ? fmt::format("libdevice.fmod({}, {})", a, b)
                          : fmt::format("({} % {})", a, b);
    case ExprOp::kRemainder: return RemainderText(a, b, type);
    case ExprOp::kFloorDivide: return FloorDivideText(a, b, type);
    default: return a;
  }
}

std::string TypeText(ExprType type) {
  switch (type) {
    case ExprType::kFloat: return "tl.float32";
    case ExprType::kDouble: return "tl.float64";
    case ExprType::kInt: return "tl.int64";
    case ExprType::kBool: return "tl.int1";
  }
  return "tl.float32";
}

std::string CastText(const std::string& value, ExprType from, ExprType to) {
  if (to == ExprType::kBool)
    return from == ExprType::kBool ? value : fmt::format("({} != 0)", value);
  return fmt::format("{}.to({})", value, TypeText(to));
}

std::string TorchType(DType dtype) { return "torch." + std::string(DTypeName(dtype)); }

}  // namespace pragma::expert::triton
