#include "profile/rule_expression.h"

#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace pragma {
namespace {

double Clamp(double value, double low, double high) {
  return std::isnan(value) ? value : std::max(low, std::min(value, high));
}

mu::Parser MakeParser(const std::string& text) {
  mu::Parser parser;
  parser.DefineFun("clamp", Clamp);
  parser.SetExpr(text);
  return parser;
}

std::vector<std::string> NamesOf(const std::string& text) {
  const mu::Parser parser = MakeParser(text);  // owns the map below
  std::vector<std::string> names;
  for (const auto& [name, address] : parser.GetUsedVar()) names.push_back(name);
  return names;
}

// Names are constants to the parser, so that "=" in place of "==" is an error and not an
// assignment.
double Calculate(const RuleExpression& expression, const RuleValues& values) {
  mu::Parser parser = MakeParser(expression.text);
  for (const std::string& name : expression.names) {
    const auto found = values.find(name);
    parser.DefineConst(name, found == values.end() ? 1.0 : found->second.value);
  }
  int results = 0;
  const double* all = parser.Eval(results);
  if (results != 1) throw mu::ParserError("a comma between two expressions");
  return all[0];
}

std::vector<std::string> SourcesOf(const RuleExpression& expression, const RuleValues& values) {
  std::set<std::string> sources;
  for (const std::string& name : expression.names) {
    const RuleValue& value = values.find(name)->second;
    sources.insert(value.sources.begin(), value.sources.end());
  }
  return {sources.begin(), sources.end()};
}

}  // namespace

Result<RuleExpression> ParseExpression(const std::string& text) {
  if (text.empty()) return Fail(ErrorKind::kUsage, "the expression is empty");
  try {
    RuleExpression expression{.text = text, .names = NamesOf(text)};
    Calculate(expression, {});
    return expression;
  } catch (const mu::ParserError& error) {
    return Fail(ErrorKind::kUsage, "cannot read \"" + text + "\": " + error.GetMsg());
  } catch (const std::exception& error) {
    return Fail(ErrorKind::kUsage, "cannot read \"" + text + "\": " + error.what());
  }
}

std::vector<std::string> MissingNames(const RuleExpression& expression, const RuleValues& values) {
  std::vector<std::string> missing;
  for (const std::string& name : expression.names) {
    if (!values.contains(name)) missing.push_back(name);
  }
  return missing;
}

std::optional<RuleValue> EvaluateExpression(const RuleExpression& expression,
                                            const RuleValues& values) {
  if (!MissingNames(expression, values).empty()) return std::nullopt;
  try {
    const double value = Calculate(expression, values);
    if (!std::isfinite(value)) return std::nullopt;
    const bool plain = expression.names.size() == 1 && expression.names[0] == expression.text;
    return RuleValue{.value = value,
                     .sources = SourcesOf(expression, values),
                     .computed = !plain || values.find(expression.text)->second.computed};
  } catch (const mu::ParserError&) {
    return std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace pragma
