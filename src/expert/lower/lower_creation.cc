// Operators that create tensors from nothing, and triangles.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/lower/arithmetic.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;

Value Filled(double value, const NodeView& node) {
  return ProgramBuilder::Filled(value, node.dtype(), node.shape());
}

Lower Fill(double value) {
  return [value](ProgramBuilder&, const NodeView& node) -> Values {
    return std::vector{Filled(value, node)};
  };
}

Values LowerFull(ProgramBuilder&, const NodeView& node) {
  return std::vector{Filled(node.Real(1, "fill_value", 0), node)};
}

Values LowerScalarTensor(ProgramBuilder&, const NodeView& node) {
  return std::vector{Filled(node.Real(0, "s", 0), node)};
}

// Torch computes start + step * i in float64 for every type of result.
Values LowerArange(ProgramBuilder&, const NodeView& node) {
  const bool start_first = node.overload() != "default";
  const double start = start_first ? node.Real(0, "start", 0) : 0;
  const double step = start_first ? node.Real(2, "step", 1) : 1;
  AffineForm form = ZeroForm(1);
  form.factor[0] = 1;
  if (ComputeType(node.dtype()) == ExprType::kInt) {
    form = {{static_cast<std::int64_t>(step)}, static_cast<std::int64_t>(start)};
    Value numbers = ProgramBuilder::Positions(form, node.shape());
    numbers.dtype = node.dtype();
    return std::vector{numbers};
  }
  const ExprPtr index = Cast(IndexOf(form), ExprType::kDouble);
  const ExprPtr number =
      Plus(Constant(start, ExprType::kDouble), Mul(Constant(step, ExprType::kDouble), index));
  return std::vector{
      Value{Cast(number, ComputeType(node.dtype())), node.shape(), node.shape(), node.dtype()}};
}

// tril and triu: the result is zero where column - row is on the other side of the diagonal.
Lower LowerTriangle(bool lower) {
  return [lower](ProgramBuilder& builder, const NodeView& node) -> Values {
    const Value x = builder.Settled(node.Tensor(0));
    AffineForm form = ZeroForm(x.shape.size());
    form.factor[x.shape.size() - 1] = 1;
    form.factor[x.shape.size() - 2] = -1;
    const ExprPtr distance = IndexOf(form);
    const ExprPtr limit = Constant(static_cast<double>(node.Int(1, "diagonal", 0)), ExprType::kInt);
    const ExprPtr keep = lower ? Make(ExprOp::kLessEqual, {distance, limit})
                               : Make(ExprOp::kLessEqual, {limit, distance});
    return std::vector{
        Value{Select(keep, x.expr, Constant(0, x.expr->type)), x.dims, x.shape, x.dtype}};
  };
}

}  // namespace

const LowerTable& CreationOperators() {
  static const LowerTable kTable{{"full", LowerFull},
                                 {"full_like", LowerFull},
                                 {"zeros", Fill(0)},
                                 {"zeros_like", Fill(0)},
                                 {"ones", Fill(1)},
                                 {"ones_like", Fill(1)},
                                 {"empty", Fill(0)},
                                 {"empty_like", Fill(0)},
                                 {"empty_permuted", Fill(0)},
                                 {"scalar_tensor", LowerScalarTensor},
                                 {"arange", LowerArange},
                                 {"tril", LowerTriangle(true)},
                                 {"triu", LowerTriangle(false)}};
  return kTable;
}

}  // namespace pragma::expert
