// Writes operators of expressions as Triton code.
#pragma once

#include <string>

#include "core/task.h"
#include "expert/ir/expression.h"

namespace pragma::expert::triton {

// Returns a number as Python code, such as "1.5", float("inf") or True.
[[nodiscard]] std::string NumberText(double value);
[[nodiscard]] std::string ConstantText(const Expr& constant);
// Returns an operator's code. `y` is empty where it has one argument.
[[nodiscard]] std::string OperatorText(ExprOp op, ExprType type, const std::string& x,
                                       const std::string& y = "");
// Returns the function of the module that this code calls, or empty (HelperText in tile_fold.h).
[[nodiscard]] std::string HelperOf(ExprOp op);
// Returns whether that code calls libdevice.
[[nodiscard]] bool NeedsLibrary(ExprOp op, ExprType type);
// Returns the code of a function for a result of 16 bits, or an empty string where there is no
// shorter one: its error is below 1e-6. `helper` is the name of the function of the module that the
// code calls, or empty (HelperText in tile_fold.h).
struct ShortText {
  std::string code;
  std::string helper;
};
[[nodiscard]] ShortText ShortOperatorText(ExprOp op, ExprType type, const std::string& x);
// Returns the larger or the smaller value. For floats the result is NaN where either is NaN.
[[nodiscard]] std::string ExtremeText(bool largest, const std::string& a, const std::string& b,
                                      ExprType type);
[[nodiscard]] std::string CastText(const std::string& value, ExprType from, ExprType to);
// Returns the Triton type, such as tl.float32, in which values of this type are computed.
[[nodiscard]] std::string TypeText(ExprType type);
[[nodiscard]] std::string TorchType(DType dtype);

}  // namespace pragma::expert::triton
