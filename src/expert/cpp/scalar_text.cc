#include "expert/cpp/scalar_text.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "core/task.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/vector_preamble.h"
#include "expert/ir/expression.h"
#include "expert/ir/operators.h"
#include "expert/ir/program.h"

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

std::string Spell(const std::string& pattern, const std::string& x, const std::string& y,
                  ExprType type) {
  const bool integer = type == ExprType::kInt;
  const std::string zero = integer ? "0" : FloatText(0, type);
  const std::string one = integer ? "1" : FloatText(1, type);
  const std::string half = FloatText(0.5, type);
  const std::string minus_root_half = FloatText(-M_SQRT1_2, type);
  return Spelled(pattern, {x, y, zero, half, one, minus_root_half});
}

}  // namespace

std::string ScalarText(ExprOp op, ExprType type, const std::string& x, const std::string& y) {
  return Spell(FindOperator(op)->scalar.For(type), x, y, type);
}

std::string VectorText(ExprOp op, ExprType type, const std::string& x, const std::string& y,
                       Needs& needs) {
  const Operator& known = *FindOperator(op);
  if (!known.piece.empty()) needs.pieces.insert(VectorPiece(known.piece));
  if (!known.vector.empty()) return Spell(known.vector.For(type), x, y, type);
  needs.pieces.insert(VectorPiece::kStrided);
  needs.cmath = true;
  const bool two = known.arguments == 2;
  return fmt::format("EachLane({}{}{}, [](float e{}) {{ return {}; }})", x, two ? ", " : "", y,
                     two ? ", float f" : "", ScalarText(op, ExprType::kFloat, "e", "f"));
}

}  // namespace pragma::expert
