// Expressions of diagnosis rules: arithmetic and conditions over named values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

// A value with the sources of the metrics that it was computed from; none for a constant.
struct RuleValue {
  double value = 0;
  std::vector<std::string> sources;
  bool computed = false;  // not one metric's own value
};
using RuleValues = std::map<std::string, RuleValue, std::less<>>;

// An expression whose names are known. Operators are muParser's (+ - * / ^ < <= > >= == != && ||
// ?:), functions its min, max, abs, sqrt and so on, and clamp(x, low, high).
struct RuleExpression {
  std::string text;
  std::vector<std::string> names;  // each once, sorted
};

// The error says what is wrong with the text, and not where it stands.
[[nodiscard]] Result<RuleExpression> ParseExpression(const std::string& text);
// The names that have no value.
[[nodiscard]] std::vector<std::string> MissingNames(const RuleExpression& expression,
                                                    const RuleValues& values);
// nullopt when a name has no value or the result is no finite number (0/0).
[[nodiscard]] std::optional<RuleValue> EvaluateExpression(const RuleExpression& expression,
                                                          const RuleValues& values);

}  // namespace pragma
