#include "expert/ir/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expert/ir/expression.h"

namespace pragma::expert {
namespace {

// A call of the dialect's library. `integer` is the form for integers, where it is another one.
constexpr double kSlow = 200;  // no vector form
constexpr double kDivision = 6;

Spelling Library(std::string_view call, std::string integer = "") {
  return {"libdevice." + std::string(call), std::move(integer), "", true};
}
Spelling Std(std::string_view call) { return {"std::" + std::string(call), "", ""}; }

// An elementary function that all dialects have: <cmath>, the preamble (if `vector` is a name) and
// libdevice. For some functions, those of tl are approximations; those of libdevice are accurate to
// the last bit or two.
Operator Function(ExprOp op, std::string aten, double cost, std::string_view name,
                  std::string vector) {
  const std::string call = std::string(name) + "({x})";
  Operator function{.op = op, .aten = std::move(aten), .cost = cost};
  function.scalar = Std(call);
  if (!vector.empty()) function.vector = {vector + "({x})"};
  function.piece = std::move(vector);
  function.triton = Library(call);
  return function;
}

// The same with two arguments, without a vector form.
Operator FunctionOfTwo(ExprOp op, std::string aten, std::string_view name) {
  const std::string call = std::string(name) + "({x}, {y})";
  return {.op = op,
          .aten = std::move(aten),
          .arguments = 2,
          .cost = kSlow,
          .scalar = Std(call),
          .triton = Library(call)};
}

// Rounding leaves integers as they are.
Operator Rounding(ExprOp op, std::string aten, std::string_view scalar, std::string_view vector,
                  Spelling triton) {
  triton.integer = "{x}";
  return {.op = op,
          .aten = std::move(aten),
          .scalar = Std(scalar),
          .vector = {std::string(vector)},
          .piece = "Round",
          .triton = std::move(triton)};
}

// An operator that all dialects write between its arguments. `flag` is its sign between two bools,
// where C++ has another one for them.
Operator Between(ExprOp op, std::string aten, double cost, std::string sign,
                 std::string_view flag = "") {
  const auto written = [](std::string_view s) { return fmt::format("({{x}} {} {{y}})", s); };
  const Spelling plain{written(sign), "", ""};
  return {.op = op,
          .aten = std::move(aten),
          .arguments = 2,
          .cost = cost,
          .sign = sign,
          .scalar = {plain.real, "", flag.empty() ? "" : written(flag)},
          .vector = plain,
          .triton = plain};
}

// The smaller or the larger value. In C++ the result is y where either is NaN; in Triton it is NaN.
Operator Extreme(ExprOp op, std::string_view sign, std::string_view vector, std::string_view triton,
                 std::string_view flags) {
  const std::string chosen = fmt::format("({{x}} {} {{y}} ? {{x}} : {{y}})", sign);
  return {.op = op,
          .arguments = 2,
          .scalar = {chosen},
          .vector = {fmt::format("{}({{x}}, {{y}})", vector), chosen},
          .triton = {fmt::format("tl.{}({{x}}, {{y}}, propagate_nan=tl.PropagateNan.ALL)", triton),
                     fmt::format("tl.{}({{x}}, {{y}})", triton),
                     fmt::format("({{x}} {} {{y}})", flags)}};
}

std::vector<Operator> Functions() {
  using enum ExprOp;
  return {
      Function(kSquareRoot, "sqrt", kDivision, "sqrt", "Sqrt"),
      Function(kExp, "exp", 14, "exp", "Exp"),
      Function(kExpNegative, "", 14, "exp", "ExpNegative"),
      Function(kExpMinus1, "expm1", 22, "expm1", "ExpMinus1"),
      Function(kExp2, "exp2", kSlow, "exp2", ""),
      Function(kLog, "log", 14, "log", "Log"),
      Function(kLog1Plus, "log1p", 22, "log1p", "Log1p"),
      Function(kLog2, "log2", kSlow, "log2", ""),
      Function(kLog10, "log10", kSlow, "log10", ""),
      Function(kSin, "sin", kSlow, "sin", ""),
      Function(kCos, "cos", kSlow, "cos", ""),
      Function(kTan, "tan", kSlow, "tan", ""),
      Function(kArcSin, "asin", kSlow, "asin", ""),
      Function(kArcCos, "acos", kSlow, "acos", ""),
      Function(kArcTan, "atan", kSlow, "atan", ""),
      Function(kSinh, "sinh", kSlow, "sinh", ""),
      Function(kCosh, "cosh", kSlow, "cosh", ""),
      Function(kArcSinh, "asinh", kSlow, "asinh", ""),
      Function(kArcCosh, "acosh", kSlow, "acosh", ""),
      Function(kArcTanh, "atanh", kSlow, "atanh", ""),
      Function(kTanh, "tanh", 36, "tanh", "Tanh"),
      Function(kErf, "erf", 36, "erf", "Erf"),
      Function(kErfComplement, "erfc", kSlow, "erfc", ""),
      Function(kLogGamma, "lgamma", kSlow, "lgamma", ""),
      {.op = kSigmoid,
       .aten = "sigmoid",
       .cost = 22,
       .scalar = {"({one} / ({one} + std::exp(-{x})))"},
       .vector = {"Sigmoid({x})"},
       .piece = "Sigmoid",
       .triton = {"(1.0 / (1.0 + libdevice.exp(-{x})))", "", "", true}},
      {.op = kNormalCdf,
       .cost = 22,
       .scalar = {"({half} * std::erfc({minus_root_half} * {x}))"},
       .vector = {"NormalCdf({x})"},
       .piece = "NormalCdf",
       .triton = {"({half} * libdevice.erfc({minus_root_half} * {x}))", "", "", true}},
  };
}

// Wraps an integer to a narrower type. Vectors hold integers of 32 bits.
Operator Narrowing(ExprOp op, std::string_view type, std::string_view vector) {
  const std::string scalar =
      fmt::format("static_cast<std::int64_t>(static_cast<std::{}_t>({{x}}))", type);
  return {.op = op,
          .scalar = {scalar},
          .vector = {std::string(vector)},
          .triton = {fmt::format("{{x}}.to(tl.{}).to(tl.int64)", type)}};
}

std::vector<Operator> OthersOfOne() {
  using enum ExprOp;
  return {
      {.op = kNegate,
       .aten = "neg",
       .scalar = {"(-{x})"},
       .vector = {"(-{x})"},
       .triton = {"(-{x})"}},
      {.op = kAbs,
       .aten = "abs",
       .scalar = {"std::abs({x})"},
       .vector = {"Abs({x})"},
       .triton = {"tl.abs({x})"}},
      {.op = kReciprocal,
       .cost = kDivision,
       .scalar = {"({one} / {x})"},
       .vector = {"(1.0f / {x})"},
       .triton = {"(1.0 / {x})"}},
      Rounding(kFloor, "floor", "floor({x})", "Floor({x})", {"tl.floor({x})"}),
      Rounding(kCeil, "ceil", "ceil({x})", "Ceil({x})", {"tl.ceil({x})"}),
      Rounding(kTrunc, "trunc", "trunc({x})", "Trunc({x})", Library("trunc({x})")),
      Rounding(kRound, "round", "nearbyint({x})", "RoundEven({x})", Library("rint({x})")),
      {.op = kSign,
       .aten = "sign",
       .scalar = {"({x} > {zero} ? {one} : ({x} < {zero} ? -{one} : {zero}))"},
       .vector = {"Select({x} > 0.0f, Broadcast(1.0f), Select({x} < 0.0f, Broadcast(-1.0f), "
                  "Vec{{}}))"},
       .triton = {"tl.where({x} > 0, 1.0, tl.where({x} < 0, -1.0, {x} * 0.0))",
                  "tl.where({x} > 0, 1, tl.where({x} < 0, -1, 0))"}},
      {.op = kNot, .scalar = {"(!{x})"}, .vector = {"(~{x})"}, .triton = {"({x} == 0)"}},
      {.op = kIsNan,
       .scalar = {"({x} != {x})", "false"},
       .vector = {"({x} != {x})"},
       .triton = {"({x} != {x})"}},
      // Only Triton's products split their operands.
      {.op = kTf32, .cost = 4, .triton = {.real = "tf32({x})", .helper = "tf32"}},
      Narrowing(kToInt8, "int8", "(({x} << 24) >> 24)"),
      Narrowing(kToInt16, "int16", "(({x} << 16) >> 16)"),
      Narrowing(kToInt32, "int32", "{x}"),
      Narrowing(kToUint8, "uint8", "({x} & 255)"),
  };
}

std::vector<Operator> OthersOfTwo() {
  using enum ExprOp;
  return {
      Extreme(kMin, "<", "Min", "minimum", "&"),
      Extreme(kMax, ">", "Max", "maximum", "|"),
      // An FMA with 0 rounds the product, and no compiler can fuse it with a subtraction. They see
      // through a plain + 0 where the product is a square.
      {.op = kRoundedProduct,
       .arguments = 2,
       .scalar = {"({x} * {y} + {zero})"},
       .vector = {"({x} * {y} + 0.0f)"},
       .triton = {"tl.fma({x}, {y}, 0.0)"}},
      // Triton's own sign of division approximates.
      {.op = kDivideExactly,
       .arguments = 2,
       .cost = kDivision,
       .scalar = {"({x} / {y})"},
       .vector = {"({x} / {y})"},
       .triton = {"tl.div_rn({x}, {y})"}},
      {.op = kPower,
       .arguments = 2,
       .cost = kSlow,
       .scalar = {"std::pow({x}, {y})"},
       .triton = Library("pow({x}, {y})")},
      FunctionOfTwo(kAtan2, "atan2", "atan2"),
      FunctionOfTwo(kHypotenuse, "hypot", "hypot"),
      FunctionOfTwo(kCopySign, "copysign", "copysign"),
      FunctionOfTwo(kNextAfter, "nextafter", "nextafter"),
      {.op = kTruncRemainder,
       .aten = "fmod",
       .arguments = 2,
       .cost = kDivision,
       .scalar = {"std::fmod({x}, {y})", "({x} % {y})"},
       .triton = Library("fmod({x}, {y})", "({x} % {y})")},
      {.op = kRemainder,
       .arguments = 2,
       .cost = kDivision,
       .scalar = {"({x} - std::floor({x} / {y}) * {y})", "((({x} % {y}) + {y}) % {y})"},
       .triton = {"tl.where((libdevice.fmod({x}, {y}) != 0) & ((libdevice.fmod({x}, {y}) < 0) != "
                  "({y} < 0)), libdevice.fmod({x}, {y}) + {y}, libdevice.fmod({x}, {y}))",
                  "tl.where(({x} % {y} != 0) & (({x} < 0) != ({y} < 0)), {x} % {y} + {y}, {x} % "
                  "{y})",
                  "", true}},
      {.op = kFloorDivide,
       .arguments = 2,
       .cost = kDivision,
       .scalar = {"std::floor({x} / {y})",
                  "({x} / {y} - (({x} % {y} != 0) && (({x} < 0) != ({y} < 0))))"},
       .triton = {"tl.floor({x} / {y})",
                  "({x} // {y} - (({x} % {y} != 0) & (({x} < 0) != ({y} < 0))))"}},
  };
}

std::vector<Operator> Signs() {
  using enum ExprOp;
  return {
      Between(kAdd, "", 1, "+"),
      Between(kSubtract, "", 1, "-"),
      Between(kMultiply, "mul", 1, "*"),
      Between(kDivide, "", kDivision, "/"),
      Between(kEqual, "", 1, "=="),
      Between(kNotEqual, "", 1, "!="),
      Between(kLess, "", 1, "<"),
      Between(kLessEqual, "", 1, "<="),
      Between(kAnd, "", 1, "&", "&&"),
      Between(kOr, "", 1, "|", "||"),
      Between(kXor, "", 1, "^", "!="),
      {.op = kShiftLeft,
       .arguments = 2,
       .scalar = {"static_cast<std::int64_t>(static_cast<std::uint64_t>({x}) << {y})"},
       .triton = {"({x} << {y})"}},
      {.op = kShiftRight, .arguments = 2, .scalar = {"({x} >> {y})"}, .triton = {"({x} >> {y})"}},
  };
}

}  // namespace

const std::string& Spelling::For(ExprType type) const {
  if (type == ExprType::kBool && !flag.empty()) return flag;
  const bool is_real = type == ExprType::kFloat || type == ExprType::kDouble;
  return is_real || integer.empty() ? real : integer;
}

const std::vector<Operator>& Operators() {
  static const std::vector<Operator> kOperators = [] {
    std::vector<Operator> all = Functions();
    for (const std::vector<Operator>& more : {OthersOfOne(), Signs(), OthersOfTwo()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kOperators;
}

const Operator* FindOperator(ExprOp op) {
  const auto found = std::ranges::find(Operators(), op, &Operator::op);
  return found == Operators().end() ? nullptr : &*found;
}

std::string Spelled(std::string_view pattern, const Operands& operands) {
  return fmt::format(fmt::runtime(pattern), fmt::arg("x", operands.x), fmt::arg("y", operands.y),
                     fmt::arg("zero", operands.zero), fmt::arg("half", operands.half),
                     fmt::arg("one", operands.one),
                     fmt::arg("minus_root_half", operands.minus_root_half));
}

}  // namespace pragma::expert
