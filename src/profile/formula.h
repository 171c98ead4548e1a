// Formulas over measured values, as adapter files and counter tables write them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

// Names stand in brackets, since profilers' names hold dots: "([a.sum] + [b.sum]) / 2". Operators
// and functions are muParser's (+ - * / ^ ?: min max ...).
// The names, each once, in order of appearance; an error when the formula cannot be read at all.
[[nodiscard]] Result<std::vector<std::string>> FormulaNames(const std::string& formula);

// The value, or nullopt when a name is unknown or the result is no finite number (0/0).
using ValueOf = std::function<std::optional<double>(const std::string& name)>;
[[nodiscard]] std::optional<double> Evaluate(const std::string& formula, const ValueOf& value_of);

}  // namespace pragma
