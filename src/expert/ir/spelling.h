// What the C++ and the Triton text of a kernel spell the same way.
#pragma once

#include <string>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// The stem of a variable's name: "inverse_sqrt" says more than "value".
[[nodiscard]] std::string StemOf(const Expr& expr, const Program& program);
// Text that may stand in a comment of one line.
[[nodiscard]] std::string OneLine(std::string text);

}  // namespace pragma::expert
