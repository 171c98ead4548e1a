// Expressions in diagnosis rules: arithmetic and conditions over named values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

// A value, with the sources of the metrics from which it was computed. A constant has no sources.
struct RuleValue {
  double value = 0;
  std::vector<std::string> sources;
  bool computed = false;  // false for one metric's own value
};
using RuleValues = std::map<std::string, RuleValue, std::less<>>;

// A parsed expression and the names in it. The operators are muParser's (+ - * / ^ < <= > >= == !=
// && || ?:). The functions are its min, max, abs, sqrt and so on, and clamp(x, low, high).
struct RuleExpression {
  std::string text;
  std::vector<std::string> names;  // each once, sorted
};

// The error says what is wrong with the text, but not where the text comes from.
[[nodiscard]] Result<RuleExpression> ParseExpression(const std::string& text);
// Returns the names that have no value.
[[nodiscard]] std::vector<std::string> MissingNames(const RuleExpression& expression,
                                                    const RuleValues& values);
// Returns nullopt if a name has no value or the result is not a finite number (0/0).
[[nodiscard]] std::optional<RuleValue> EvaluateExpression(const RuleExpression& expression,
                                                          const RuleValues& values);

}  // namespace pragma
