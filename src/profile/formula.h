// Formulas over measured values, as written in adapter files and counter tables.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

// Returns the names in a formula, each once, in order of appearance. It is an error if the formula
// cannot be parsed at all. Names are in brackets, because profilers' names contain dots: "([a.sum]
// + [b.sum]) / 2". Operators and functions are muParser's (+ - * / ^ ?: min max ...).
[[nodiscard]] Result<std::vector<std::string>> FormulaNames(const std::string& formula);

// Evaluates a formula. Returns nullopt if a name is unknown or the result is not a finite number
// (0/0).
using ValueOf = std::function<std::optional<double>(const std::string& name)>;
[[nodiscard]] std::optional<double> Evaluate(const std::string& formula, const ValueOf& value_of);

}  // namespace pragma
