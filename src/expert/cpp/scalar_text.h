// Names of operators in the generated code, and how single elements are read, computed and written.
#pragma once

#include <string>

#include "expert/cpp/emit_expression.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

[[nodiscard]] std::string FloatText(double value, ExprType type);  // "0.5f", "-__builtin_inff()"
[[nodiscard]] std::string ConstantText(const Expr& constant);
[[nodiscard]] std::string ScalarLoad(const Buffer& buffer, const std::string& index);
[[nodiscard]] std::string ScalarStore(const Buffer& buffer, const std::string& value);
// Return an operator's code for single values and for vectors. `y` is empty where the operator has
// one argument.
[[nodiscard]] std::string ScalarText(ExprOp op, ExprType type, const std::string& x,
                                     const std::string& y = "");
[[nodiscard]] std::string VectorText(ExprOp op, ExprType type, const std::string& x,
                                     const std::string& y, Needs& needs);

}  // namespace pragma::expert
