#include "profile/formula.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace pragma {
namespace {

constexpr std::size_t kLongest = 2000;

// A formula with v0, v1, ... in place of the bracketed names.
struct Prepared {
  std::string text;
  std::vector<std::string> names;
};

Result<Prepared> Prepare(const std::string& formula) {
  if (formula.empty() || formula.size() > kLongest) return Fail("a formula has 1 to 2000 letters");
  Prepared prepared;
  for (std::size_t at = 0; at < formula.size(); ++at) {
    if (formula[at] != '[') {
      if (formula[at] == ']') return Fail("a ] without a [");
      prepared.text += formula[at];
      continue;
    }
    const std::size_t end = formula.find(']', at);
    if (end == std::string::npos || end == at + 1) return Fail("a name in brackets does not end");
    std::string name = formula.substr(at + 1, end - at - 1);
    auto found = std::ranges::find(prepared.names, name);
    const auto index = found - prepared.names.begin();
    if (found == prepared.names.end()) prepared.names.push_back(std::move(name));
    prepared.text += fmt::format("v{}", index);
    at = end;
  }
  return prepared;
}

// The variables must outlive the parser's evaluation and keep their addresses.
Result<double> Calculate(const Prepared& prepared, std::vector<double>& values) {
  try {
    mu::Parser parser;
    for (std::size_t i = 0; i < prepared.names.size(); ++i)
      parser.DefineVar(fmt::format("v{}", i), &values[i]);
    parser.SetExpr(prepared.text);
    return parser.Eval();
  } catch (const mu::Parser::exception_type& error) {
    return Fail(error.GetMsg());
  } catch (const std::exception& error) {
    return Fail(error.what());
  }
}

}  // namespace

Result<std::vector<std::string>> FormulaNames(const std::string& formula) {
  Prepared prepared = TRY(Prepare(formula));
  std::vector<double> values(prepared.names.size(), 1.0);
  TRY(Calculate(prepared, values));
  return std::move(prepared.names);
}

std::optional<double> Evaluate(const std::string& formula, const ValueOf& value_of) {
  const auto prepared = Prepare(formula);
  if (!prepared) return std::nullopt;
  std::vector<double> values;
  for (const std::string& name : prepared->names) {
    const std::optional<double> value = value_of(name);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  const auto result = Calculate(*prepared, values);
  if (!result || !std::isfinite(*result)) return std::nullopt;
  return *result;
}

}  // namespace pragma
