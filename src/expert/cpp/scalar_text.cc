#include "expert/cpp/scalar_text.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "core/task.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/spelling.h"

namespace pragma::expert {

std::string FloatText(double value, ExprType type) {
  const bool single = type == ExprType::kFloat;
  if (std::isnan(value)) return single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")";
  if (std::isinf(value) || (single && std::abs(value) > 3.4028235e38))
    return fmt::format("{}__builtin_inf{}()", value < 0 ? "-" : "", single ? "f" : "");
  std::string text = single ? fmt::format("{:.9g}", value) : fmt::format("{:.17g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return single ? text + "f" : text;
}

std::string ConstantText(const Expr& constant) {
  switch (constant.type) {
    case ExprType::kFloat:
    case ExprType::kDouble: return FloatText(constant.real, constant.type);
    case ExprType::kInt: return fmt::format("std::int64_t{{{}}}", constant.integer);
    case ExprType::kBool: return constant.integer != 0 ? "true" : "false";
  }
  return "";
}

std::string ScalarLoad(const Buffer& buffer, const std::string& index) {
  const std::string element = fmt::format("{}[{}]", buffer.name, index);
  switch (buffer.dtype) {
    case DType::kBFloat16: return "pragma_bf16_to_float(" + element + ")";
    case DType::kFloat16: return "static_cast<float>(" + element + ")";
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kUInt8: return "static_cast<std::int64_t>(" + element + ")";
    default: return element;
  }
}

std::string ScalarStore(const Buffer& buffer, const std::string& value) {
  switch (buffer.dtype) {
    case DType::kBFloat16: return "pragma_float_to_bf16(" + value + ")";
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kInt64:
    case DType::kBool: return value;
    default: return fmt::format("static_cast<{}>({})", DTypeCppName(buffer.dtype), value);
  }
}

namespace {

// Returns the name of the function in <cmath>.
std::string_view MathName(ExprOp op) {
  switch (op) {
    case ExprOp::kAbs: return "std::abs";
    case ExprOp::kSquareRoot: return "std::sqrt";
    case ExprOp::kExp:
    case ExprOp::kExpNegative: return "std::exp";
    case ExprOp::kExpMinus1: return "std::expm1";
    case ExprOp::kLog: return "std::log";
    case ExprOp::kLog1Plus: return "std::log1p";
    case ExprOp::kSin: return "std::sin";
    case ExprOp::kCos: return "std::cos";
    case ExprOp::kTan: return "std::tan";
    case ExprOp::kTanh: return "std::tanh";
    case ExprOp::kErf: return "std::erf";
    case ExprOp::kFloor: return "std::floor";
    case ExprOp::kCeil: return "std::ceil";
    case ExprOp::kTrunc: return "std::trunc";
    case ExprOp::kRound: return "std::nearbyint";
    default: return "";
  }
}

}  // namespace

std::string ScalarCall(ExprOp op, const std::string& arg, ExprType type) {
  if (const std::string_view name = MathName(op); !name.empty())
    return fmt::format("{}({})", name, arg);
  const std::string zero = type == ExprType::kInt ? "0" : FloatText(0, type);
  const std::string one = type == ExprType::kInt ? "1" : FloatText(1, type);
  switch (op) {
    case ExprOp::kReciprocal: return fmt::format("({} / {})", one, arg);
    case ExprOp::kSigmoid: return fmt::format("({0} / ({0} + std::exp(-{1})))", one, arg);
    case ExprOp::kNormalCdf:
      return fmt::format("({} * std::erfc({} * {}))", FloatText(0.5, type),
                         FloatText(-M_SQRT1_2, type), arg);
    case ExprOp::kSign:
      return fmt::format("({0} > {1} ? {2} : ({0} < {1} ? -{2} : {1}))", arg, zero, one);
    default: return arg;
  }
}

std::string ScalarBinary(ExprOp op, const std::string& a, const std::string& b, ExprType type) {
  const bool real = type == ExprType::kFloat || type == ExprType::kDouble;
  switch (op) {
    case ExprOp::kAnd: return fmt::format("({} && {})", a, b);
    case ExprOp::kOr: return fmt::format("({} || {})", a, b);
    case ExprOp::kXor: return fmt::format("({} != {})", a, b);
    // The result is b where either is NaN, as in vector code.
    case ExprOp::kMin: return fmt::format("({0} < {1} ? {0} : {1})", a, b);
    case ExprOp::kMax: return fmt::format("({0} > {1} ? {0} : {1})", a, b);
    case ExprOp::kPower: return fmt::format("std::pow({}, {})", a, b);
    case ExprOp::kAtan2: return fmt::format("std::atan2({}, {})", a, b);
    case ExprOp::kTruncRemainder:
      return real ? fmt::format("std::fmod({}, {})", a, b) : fmt::format("({} % {})", a, b);
    case ExprOp::kRemainder:
      return real ? fmt::format("({0} - std::floor({0} / {1}) * {1})", a, b)
                  : fmt::format("((({0} % {1}) + {1}) % {1})", a, b);
    case ExprOp::kFloorDivide:
      return real ? fmt::format("std::floor({} / {})", a, b)
                  : fmt::format("({0} / {1} - (({0} % {1} != 0) && (({0} < 0) != ({1} < 0))))", a,
                                b);
    default: return fmt::format("({} {} {})", a, Operator(op), b);
  }
}

std::string VectorCall(ExprOp op, const std::string& arg, Needs& needs) {
  const auto call = [&](std::string_view name, VectorPiece piece) {
    needs.pieces.insert(piece);
    return fmt::format("{}({})", name, arg);
  };
  switch (op) {
    case ExprOp::kAbs: return fmt::format("Abs({})", arg);
    case ExprOp::kReciprocal: return fmt::format("(1.0f / {})", arg);
    case ExprOp::kSquareRoot: return call("Sqrt", VectorPiece::kSqrt);
    case ExprOp::kExp: return call("Exp", VectorPiece::kExp);
    case ExprOp::kExpNegative: return call("ExpNegative", VectorPiece::kExpNegative);
    case ExprOp::kExpMinus1: return call("ExpMinus1", VectorPiece::kExpMinus1);
    case ExprOp::kLog: return call("Log", VectorPiece::kLog);
    case ExprOp::kLog1Plus: return call("Log1p", VectorPiece::kLog1p);
    case ExprOp::kTanh: return call("Tanh", VectorPiece::kTanh);
    case ExprOp::kSigmoid: return call("Sigmoid", VectorPiece::kSigmoid);
    case ExprOp::kErf: return call("Erf", VectorPiece::kErf);
    case ExprOp::kNormalCdf: return call("NormalCdf", VectorPiece::kNormalCdf);
    case ExprOp::kFloor: return call("Floor", VectorPiece::kRound);
    case ExprOp::kCeil: return call("Ceil", VectorPiece::kRound);
    case ExprOp::kTrunc: return call("Trunc", VectorPiece::kRound);
    case ExprOp::kRound: return call("RoundEven", VectorPiece::kRound);
    case ExprOp::kSign:
      return fmt::format(
          "Select({0} > 0.0f, Broadcast(1.0f), Select({0} < 0.0f, Broadcast(-1.0f), Vec{{}}))",
          arg);
    default: break;
  }
  needs.pieces.insert(VectorPiece::kStrided);
  needs.cmath = true;
  return fmt::format("EachLane({}, [](float e) {{ return {}; }})", arg,
                     ScalarCall(op, "e", ExprType::kFloat));
}

std::string VectorCall(ExprOp op, const std::string& a, const std::string& b, ExprType type,
                       Needs& needs) {
  const bool real = type == ExprType::kFloat;
  if (op == ExprOp::kMin || op == ExprOp::kMax) {
    if (real) return fmt::format("{}({}, {})", op == ExprOp::kMin ? "Min" : "Max", a, b);
    return fmt::format("({0} {2} {1} ? {0} : {1})", a, b, op == ExprOp::kMin ? "<" : ">");
  }
  needs.pieces.insert(VectorPiece::kStrided);
  needs.cmath = true;
  return fmt::format("EachLane({}, {}, [](float e, float f) {{ return {}; }})", a, b,
                     ScalarBinary(op, "e", "f", ExprType::kFloat));
}

}  // namespace pragma::expert
