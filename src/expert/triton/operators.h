// Operators of expressions as Triton's text.
#pragma once

#include <string>

#include "core/task.h"
#include "expert/ir/expression.h"

namespace pragma::expert::triton {

// "1.5", float("inf"), True.
[[nodiscard]] std::string NumberText(double value);
[[nodiscard]] std::string ConstantText(const Expr& constant);
[[nodiscard]] std::string UnaryText(ExprOp op, const std::string& arg, ExprType type);
[[nodiscard]] std::string BinaryText(ExprOp op, const std::string& a, const std::string& b,
                                     ExprType type);
// The larger or smaller; of floats NaN where either is.
[[nodiscard]] std::string ExtremeText(bool largest, const std::string& a, const std::string& b,
                                      ExprType type);
[[nodiscard]] std::string CastText(const std::string& value, ExprType from, ExprType to);
// tl.float32 and so on: what values of this type are computed in.
[[nodiscard]] std::string TypeText(ExprType type);
[[nodiscard]] std::string TorchType(DType dtype);

}  // namespace pragma::expert::triton
