#include "expert/triton/operators.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "core/task.h"
#include "expert/ir/expression.h"
#include "expert/ir/operators.h"

namespace pragma::expert::triton {
namespace {

bool IsReal(ExprType type) { return type == ExprType::kFloat || type == ExprType::kDouble; }

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

std::string OperatorText(ExprOp op, ExprType type, const std::string& x, const std::string& y) {
  return Spelled(FindOperator(op)->triton.For(type), {x, y});
}

ShortText ShortOperatorText(ExprOp op, ExprType type, const std::string& x) {
  if (type != ExprType::kFloat) return {};
  if (op == ExprOp::kExp || op == ExprOp::kExpNegative) return {fmt::format("tl.exp({})", x), ""};
  if (op == ExprOp::kSigmoid) return {fmt::format("(1.0 / (1.0 + tl.exp(-{})))", x), ""};
  if (op == ExprOp::kNormalCdf) return {fmt::format("normal_cdf({})", x), "normal_cdf"};
  return {};
}

std::string HelperOf(ExprOp op) { return FindOperator(op)->triton.helper; }

bool NeedsLibrary(ExprOp op, ExprType type) {
  const Spelling& spelling = FindOperator(op)->triton;
  return spelling.library && (IsReal(type) || spelling.integer.empty());
}

std::string ExtremeText(bool largest, const std::string& a, const std::string& b, ExprType type) {
  return OperatorText(largest ? ExprOp::kMax : ExprOp::kMin, type, a, b);
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
