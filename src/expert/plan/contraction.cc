#include "expert/plan/contraction.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kSmallestTiled = 8;  // smallest size of rows, columns and depth for which
                                            // tensor cores pay off

bool IsOperand(const ExprPtr& expr) {
  return expr->op == ExprOp::kLoad && expr->type == ExprType::kFloat &&
         expr->load.indirect.empty() && expr->load.outside == 0;
}

bool IsProduct(const ExprPtr& expr) {
  return expr->op == ExprOp::kMultiply && IsOperand(expr->args[0]) && IsOperand(expr->args[1]);
}

// Returns the operands of a step's product, without its dimensions.
std::optional<Contraction> OperandsOf(const ExprPtr& expr) {
  Contraction found;
  if (IsProduct(expr)) {
    found.left = expr->args[0];
    found.right = expr->args[1];
    return found;
  }
  // The form that ProductOfParts gives.
  if (expr->op != ExprOp::kAdd || !IsProduct(expr->args[0]) || expr->args[1]->op != ExprOp::kAdd)
    return std::nullopt;
  const std::vector<ExprPtr>& high = expr->args[0]->args;
  const ExprPtr& right_rest = expr->args[1]->args[0];
  const ExprPtr& left_rest = expr->args[1]->args[1];
  if (!IsProduct(right_rest) || !IsProduct(left_rest) ||
      !SameExpression(right_rest->args[0], high[0]) || !SameExpression(left_rest->args[1], high[1]))
    return std::nullopt;
  found.left = high[0];
  found.right = high[1];
  found.left_rest = left_rest->args[0];
  found.right_rest = right_rest->args[1];
  return found;
}

bool HasContiguous(const Step& step, const std::vector<std::size_t>& dims) {
  return std::ranges::any_of(
      dims, [&](std::size_t dim) { return step.shape[dim] > 1 && step.place.factor[dim] == 1; });
}

}  // namespace

bool Has16Bits(const Program& program, const Contraction& form) {
  const auto type = [&](const ExprPtr& operand) {
    return program.buffers[static_cast<std::size_t>(operand->load.buffer)].dtype;
  };
  const DType left = type(form.left);
  return (left == DType::kBFloat16 || left == DType::kFloat16) && left == type(form.right);
}

bool HasBand(const Step& step) {
  return step.product && !(step.product->left_nonzero.all() && step.product->right_nonzero.all());
}

std::optional<Contraction> ContractionOf(const Step& step) {
  if (step.kind != Step::Kind::kFold || step.fold != Fold::kSum) return std::nullopt;
  std::optional<Contraction> operands = OperandsOf(step.expr);
  if (!operands) return std::nullopt;
  Contraction& found = *operands;
  for (std::size_t dim = 0; dim < step.shape.size(); ++dim) {
    const bool left = DependsOn(found.left, dim);
    const bool right = DependsOn(found.right, dim);
    const bool neither = !left && !right;
    if (step.shape[dim] == 1) continue;
    if (neither || (step.folded[dim] && left != right)) return std::nullopt;
    auto& dims = step.folded[dim] ? found.depth
                 : left && right  ? found.batch
                 : left           ? found.rows
                                  : found.columns;
    dims.push_back(dim);
  }
  if (Elements(step.shape, found.rows) < kSmallestTiled ||
      Elements(step.shape, found.columns) < kSmallestTiled ||
      Elements(step.shape, found.depth) < kSmallestTiled)
    return std::nullopt;
  if (HasContiguous(step, found.rows)) {
    std::swap(found.left, found.right);
    std::swap(found.left_rest, found.right_rest);
    std::swap(found.rows, found.columns);
  }
  return operands;
}

ExprPtr ProductOfParts(const ExprPtr& left, const ExprPtr& left_rest, const ExprPtr& right,
                       const ExprPtr& right_rest) {
  const auto product = [](const ExprPtr& a, const ExprPtr& b) {
    return Make(ExprOp::kMultiply, {a, b});
  };
  return Make(ExprOp::kAdd,
              {product(left, right),
               Make(ExprOp::kAdd, {product(left, right_rest), product(left_rest, right)})});
}

}  // namespace pragma::expert
