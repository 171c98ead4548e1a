// Names of operators in the generated code, and how single elements are read, computed and written.
#pragma once

#include <string>
#include <string_view>

#include "expert/cpp/emit_expression.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

[[nodiscard]] std::string FloatText(double value, ExprType type);  // "0.5f", "-__builtin_inff()"
[[nodiscard]] std::string ConstantText(const Expr& constant);
[[nodiscard]] std::string ScalarLoad(const Buffer& buffer, const std::string& index);
[[nodiscard]] std::string ScalarStore(const Buffer& buffer, const std::string& value);
[[nodiscard]] std::string ScalarCall(ExprOp op, const std::string& arg, ExprType type);
[[nodiscard]] std::string ScalarBinary(ExprOp op, const std::string& a, const std::string& b,
                                       ExprType type);
[[nodiscard]] std::string VectorCall(ExprOp op, const std::string& arg, Needs& needs);
[[nodiscard]] std::string VectorCall(ExprOp op, const std::string& a, const std::string& b,
                                     ExprType type, Needs& needs);

}  // namespace pragma::expert
