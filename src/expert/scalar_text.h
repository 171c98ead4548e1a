// Names of operators in the generated code, and how single elements are read, computed and written.
#pragma once

#include <string>
#include <string_view>

#include "expert/emit_expression.h"
#include "expert/expression.h"
#include "expert/program.h"

namespace pragma {

[[nodiscard]] std::string FloatText(double value, ExprType type);  // "0.5f", "-__builtin_inff()"
[[nodiscard]] std::string ConstantText(const Expr& constant);
[[nodiscard]] std::string ScalarLoad(const Buffer& buffer, const std::string& index);
[[nodiscard]] std::string ScalarStore(const Buffer& buffer, const std::string& value);
[[nodiscard]] std::string ScalarCall(ExprOp op, const std::string& arg, ExprType type);
[[nodiscard]] std::string ScalarBinary(ExprOp op, const std::string& a, const std::string& b,
                                       ExprType type);
// Returns the operator, such as "+", where C++ has one for vectors. Otherwise returns an empty
// string.
[[nodiscard]] std::string_view Operator(ExprOp op);
[[nodiscard]] std::string VectorCall(ExprOp op, const std::string& arg, Needs& needs);
[[nodiscard]] std::string VectorCall(ExprOp op, const std::string& a, const std::string& b,
                                     ExprType type, Needs& needs);
// Returns the stem for the name of a value. The stem is as specific as possible: "scale" says less
// than "inverse_sqrt".
[[nodiscard]] std::string StemOf(const Expr& expr, const Program& program);

}  // namespace pragma
