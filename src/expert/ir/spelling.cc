#include "expert/ir/spelling.h"

#include <cstddef>
#include <string>

#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

std::string StemOf(const Expr& expr, const Program& program) {
  switch (expr.op) {
    case ExprOp::kLoad:
      return program.buffers[static_cast<std::size_t>(expr.load.buffer)].name + "_value";
    case ExprOp::kAdd: return "sum";
    case ExprOp::kSubtract: return "difference";
    case ExprOp::kMultiply: return "product";
    case ExprOp::kDivide:
    case ExprOp::kDivideExactly: return "ratio";
    case ExprOp::kExp:
    case ExprOp::kExpNegative: return "power";
    case ExprOp::kTanh: return "tangent";
    case ExprOp::kSigmoid:
    case ExprOp::kNormalCdf: return "gate";
    case ExprOp::kSelect: return "choice";
    case ExprOp::kMin:
    case ExprOp::kMax: return "limited";
    case ExprOp::kSquareRoot: return "root";
    case ExprOp::kLog:
    case ExprOp::kLog1Plus: return "logarithm";
    default: return "value";
  }
}

std::string OneLine(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\\') c = ' ';
  return text;
}

}  // namespace pragma::expert
