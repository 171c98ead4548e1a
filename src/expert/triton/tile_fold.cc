#include "expert/triton/tile_fold.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/triton/operators.h"
#include "expert/triton/py_lines.h"

namespace pragma::expert::triton {
namespace {

bool Largest(Fold fold) { return fold == Fold::kMax || fold == Fold::kArgMax; }

// Returns the type of the accumulator. Flags are kept as integers.
std::string KeptType(ExprType type) {
  return type == ExprType::kBool ? "tl.int32" : TypeText(type);
}

std::string HelperName(Fold fold) {
  switch (fold) {
    case Fold::kSum: return "total_of";
    case Fold::kProduct: return "product_of";
    case Fold::kMin: return "smaller_of";
    case Fold::kMax: return "larger_of";
    case Fold::kArgMin: return "smaller_with_place";
    case Fold::kArgMax: return "larger_with_place";
  }
  return "";
}

}  // namespace

std::string HelperText(const std::string& name) {
  static const std::map<std::string, std::string> kTexts{
      {"total_of", "def total_of(a, b):\n    return a + b\n"},
      {"product_of", "def product_of(a, b):\n    return a * b\n"},
      {"normal_cdf",
       "def normal_cdf(x):\n"
       "    # The logarithm is a polynomial up to |x| = 13; the relative error is below 6e-5.\n"
       "    size = tl.minimum(tl.abs(x), 15.0)\n"
       "    power = 1.480457e-07 + size * -2.0643515e-09\n"
       "    power = 8.622817e-05 + size * (-4.6775656e-06 + size * power)\n"
       "    power = 0.008740634 + size * (-0.0010390094 + size * power)\n"
       "    power = -0.4586062 + size * (-0.05412343 + size * power)\n"
       "    power = -1.0000298 + size * (-1.1510550 + size * power)\n"
       "    tail = tl.exp2(power)\n"
       "    return tl.where(x < 0.0, tail, 1.0 - tail)\n"},
      {"tf32",
       "def tf32(x):\n"
       "    # A number that rounding would carry beyond the largest one is truncated instead.\n"
       "    bits = x.to(tl.int32, bitcast=True)\n"
       "    high = ((bits + 0x1000) & -8192).to(tl.float32, bitcast=True)\n"
       "    cut = (bits & -8192).to(tl.float32, bitcast=True)\n"
       "    high = tl.where(high - high == 0.0, high, cut)\n"
       "    return tl.where(x == x, high, x)\n"},
      {"larger_of",
       "def larger_of(a, b):\n"
       "    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)\n"},
      {"smaller_of",
       "def smaller_of(a, b):\n"
       "    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)\n"},
      {"larger_with_place",
       "def larger_with_place(a, i, b, j):\n"
       "    # NaN is larger than all; of equals the first counts.\n"
       "    same = (a == b) | ((a != a) & (b != b))\n"
       "    first = (a > b) | ((a != a) & (b == b)) | (same & (i < j))\n"
       "    return tl.where(first, a, b), tl.where(first, i, j)\n"},
      {"smaller_with_place",
       "def smaller_with_place(a, i, b, j):\n"
       "    # NaN is smaller than all; of equals the first counts.\n"
       "    same = (a == b) | ((a != a) & (b != b))\n"
       "    first = (a < b) | ((a != a) & (b == b)) | (same & (i < j))\n"
       "    return tl.where(first, a, b), tl.where(first, i, j)\n"},
  };
  return "@triton.jit\n" + kTexts.at(name);
}

const char* NoPlace(bool wide) { return wide ? "9223372036854775807" : "2147483647"; }

std::string NeutralText(Fold fold, ExprType type) {
  if (fold == Fold::kSum) return type == ExprType::kInt ? "0" : "0.0";
  if (fold == Fold::kProduct) return type == ExprType::kInt ? "1" : "1.0";
  if (type == ExprType::kBool) return Largest(fold) ? "0" : "1";
  if (type == ExprType::kInt) return Largest(fold) ? "-9223372036854775807" : "9223372036854775807";
  return Largest(fold) ? "-float(\"inf\")" : "float(\"inf\")";
}

std::string Guarded(const TileFold& fold, const std::string& value, const std::string& inside) {
  const std::string kept =
      fold.type == ExprType::kBool ? fmt::format("({}).to(tl.int32)", value) : value;
  if (inside.empty()) return kept;
  return fmt::format("tl.where({}, {}, {})", inside, kept, NeutralText(fold.fold, fold.type));
}

void DeclareFold(const TileFold& fold, PyLines& out) {
  out.Line(fmt::format("{} = tl.full({}, {}, {})", fold.name, fold.shape,
                       NeutralText(fold.fold, fold.type), KeptType(fold.type)));
  if (IsArgFold(fold.fold))
    out.Line(fmt::format("{}_place = tl.full({}, {}, {})", fold.name, fold.shape,
                         NoPlace(fold.wide), fold.wide ? "tl.int64" : "tl.int32"));
}

std::string CombinedText(Fold fold, ExprType type, const std::string& a, const std::string& b) {
  if (fold == Fold::kSum) return fmt::format("{} + {}", a, b);
  if (fold == Fold::kProduct) return fmt::format("{} * {}", a, b);
  return ExtremeText(Largest(fold), a, b, type == ExprType::kBool ? ExprType::kInt : type);
}

void AddToFold(const TileFold& fold, const std::string& value, const std::string& position,
               Helpers& helpers, PyLines& out) {
  if (!IsArgFold(fold.fold))
    return out.Line(fold.name + " = " + CombinedText(fold.fold, fold.type, fold.name, value));
  helpers.insert(HelperName(fold.fold));
  out.Line(fmt::format("{0}, {0}_place = {1}({0}, {0}_place, {2}, {3})", fold.name,
                       HelperName(fold.fold), value, position));
}

std::string ReducedText(const TileFold& fold, const std::string& value, Helpers& helpers) {
  const bool real = fold.type == ExprType::kFloat || fold.type == ExprType::kDouble;
  if (fold.fold == Fold::kSum) return fmt::format("tl.sum({}, axis=1, keep_dims=True)", value);
  if (fold.fold != Fold::kProduct && !real)
    return fmt::format("tl.{}({}, axis=1, keep_dims=True)", Largest(fold.fold) ? "max" : "min",
                       value);
  helpers.insert(HelperName(fold.fold));
  return fmt::format("tl.reduce({}, 1, {}, keep_dims=True)", value, HelperName(fold.fold));
}

void ReduceFold(const TileFold& fold, const std::string& value, const std::string& position,
                Helpers& helpers, PyLines& out) {
  if (!IsArgFold(fold.fold)) return out.Line(fold.name + " = " + ReducedText(fold, value, helpers));
  helpers.insert(HelperName(fold.fold));
  out.Line(fmt::format("{0}, {0}_place = tl.reduce(({1}, {2}), 1, {3}, keep_dims=True)", fold.name,
                       value, position, HelperName(fold.fold)));
}

std::string RunningText(const TileFold& fold, const std::string& value, Helpers& helpers) {
  if (fold.fold == Fold::kSum) return fmt::format("tl.cumsum({}, axis=1)", value);
  if (fold.fold == Fold::kProduct) return fmt::format("tl.cumprod({}, axis=1)", value);
  helpers.insert(HelperName(fold.fold));
  return fmt::format("tl.associative_scan({}, 1, {})", value, HelperName(fold.fold));
}

}  // namespace pragma::expert::triton
