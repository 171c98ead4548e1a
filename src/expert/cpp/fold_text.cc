#include "expert/cpp/fold_text.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "expert/cpp/scalar_text.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {
namespace {

bool Largest(Fold fold) { return fold == Fold::kMax || fold == Fold::kArgMax; }

std::string_view ScalarType(const FoldForm& form) {
  // Sums of single floats are kept in double, since they are one chain of many terms.
  const bool sum = form.fold == Fold::kSum;
  switch (form.type) {
    case ExprType::kFloat: return sum ? "double" : "float";
    case ExprType::kDouble: return "double";
    case ExprType::kInt: return "std::int64_t";
    case ExprType::kBool: return sum ? "std::int64_t" : "bool";
  }
  return "float";
}

std::string Combined(const FoldForm& form, const std::string& kept, const std::string& value) {
  switch (form.fold) {
    case Fold::kSum: return fmt::format("{} += {};", kept, value);
    case Fold::kProduct: return fmt::format("{} *= {};", kept, value);
    default: break;
  }
  if (form.vector)
    return fmt::format("{0} = {1}({0}, {2});", kept, Largest(form.fold) ? "KeepMax" : "KeepMin",
                       value);
  const char* sign = Largest(form.fold) ? ">" : "<";
  // A NaN is kept once it has been found.
  return fmt::format("if (const auto next = {1}; next {2} {0} || next != next) {0} = next;", kept,
                     value, sign);
}

}  // namespace

std::string Identity(const FoldForm& form) {
  const bool real = form.type == ExprType::kFloat || form.type == ExprType::kDouble;
  if (form.fold == Fold::kSum) return real ? FloatText(0, form.type) : "0";
  if (form.fold == Fold::kProduct) return real ? FloatText(1, form.type) : "1";
  const bool largest = Largest(form.fold);
  if (form.type == ExprType::kBool) return largest ? "false" : "true";
  if (form.type == ExprType::kInt) return largest ? "INT64_MIN" : "INT64_MAX";
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return FloatText(largest ? -kInfinity : kInfinity, form.type);
}

std::vector<std::string> DeclareFold(const FoldForm& form) {
  if (!form.vector) {
    std::vector<std::string> lines{
        fmt::format("{} {} = {};", ScalarType(form), form.name, Identity(form))};
    if (IsArgFold(form.fold)) lines.push_back(fmt::format("std::int64_t {}_at = -1;", form.name));
    return lines;
  }
  if (IsArgFold(form.fold)) {
    const std::string count = form.columns ? "V" : form.chains;
    return {
        fmt::format("Vec {}[{}] = {{}};", form.name, count),
        fmt::format("Ints {}_at[{}];", form.name, count),
        fmt::format("for (Ints& each : {}_at) each = Ints{{}} - 1;  // nothing yet", form.name)};
  }
  if (form.running && !form.columns)
    return {fmt::format("Vec {0}_before = Broadcast({1}), {0} = {0}_before;", form.name,
                        Identity(form))};
  const std::string size = form.columns ? "V" : form.chains;
  const std::string identity = Identity(form);
  if (identity == "0.0f") return {fmt::format("Vec {}[{}] = {{}};", form.name, size)};
  return {fmt::format("Vec {}[{}];", form.name, size),
          fmt::format("for (Vec& each : {}) each = Broadcast({});", form.name, identity)};
}

std::vector<std::string> AddToFold(const FoldForm& form, const std::string& value,
                                   const std::string& position) {
  if (IsArgFold(form.fold) && form.vector) {
    const std::string place = form.columns ? "v" : "u";
    return {fmt::format("{}({}, {}, lanes, {}[{}], {}_at[{}]);",
                        Largest(form.fold) ? "KeepLargest" : "KeepSmallest", value, position,
                        form.name, place, form.name, place)};
  }
  if (IsArgFold(form.fold)) {
    const char* sign = Largest(form.fold) ? ">" : "<";
    return {fmt::format("if (const auto next = {1}; next {2} {0} || {0}_at < 0 || (next != next && "
                        "{0} == {0})) {{",
                        form.name, value, sign),
            fmt::format("{} = next;", form.name), fmt::format("{}_at = {};", form.name, position),
            "}"};
  }
  if (form.columns) return {Combined(form, form.name + "[v]", value)};
  if (form.running && form.vector) {
    const char* sign = form.fold == Fold::kSum ? "+" : "*";
    return {fmt::format(
                "{0} = {0}_before {1} ScanLanes({2}, {3}, [](Vec a, Vec b) {{ return a {1} b; }});",
                form.name, sign, value, Identity(form)),
            fmt::format("{0}_before = Broadcast({0}[kLanes - 1]);", form.name)};
  }
  if (!form.vector) return {Combined(form, form.name, value)};
  return {Combined(form, form.name + "[u]",
                   fmt::format("KeepLanes({}, lanes, {})", value, Identity(form)))};
}

std::string FoldResult(const FoldForm& form) {
  if (IsArgFold(form.fold) && form.vector)
    return fmt::format("FirstBest({0}, {0}_at, {1})", form.name, Largest(form.fold));
  if (IsArgFold(form.fold)) return form.name + "_at";
  if (!form.vector) {
    if (form.fold == Fold::kSum && form.type == ExprType::kFloat)
      return fmt::format("static_cast<float>({})", form.name);
    return form.name;
  }
  switch (form.fold) {
    case Fold::kSum:
      return fmt::format("SumLanes(Together({}, [](Vec a, Vec b) {{ return a + b; }}))", form.name);
    case Fold::kProduct:
      return fmt::format("ProductLanes(Together({}, [](Vec a, Vec b) {{ return a * b; }}))",
                         form.name);
    default: break;
  }
  return Largest(form.fold) ? fmt::format("MaxLanes(Together({}, KeepMax))", form.name)
                            : fmt::format("MinLanes(Together({}, KeepMin))", form.name);
}

std::string DeclareShared(const FoldForm& form) {
  return fmt::format("{} {} = {};", ScalarType(form), form.name, Identity(form));
}

std::string AddToShared(const FoldForm& form, const std::string& shared, const std::string& part) {
  FoldForm scalar = form;
  scalar.vector = false;
  return Combined(scalar, shared, part);
}

std::string_view ReductionClause(Fold fold) {
  switch (fold) {
    case Fold::kSum: return "+";
    case Fold::kProduct: return "*";
    case Fold::kMin:
    case Fold::kArgMin: return "min";
    case Fold::kMax:
    case Fold::kArgMax: return "max";
  }
  return "+";
}

}  // namespace pragma::expert
