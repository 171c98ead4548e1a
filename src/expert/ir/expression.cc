#include "expert/ir/expression.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/operators.h"

namespace pragma::expert {

ExprType ComputeType(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kBFloat16:
    case DType::kFloat16: return ExprType::kFloat;
    case DType::kFloat64: return ExprType::kDouble;
    case DType::kBool: return ExprType::kBool;
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUInt8: return ExprType::kInt;
  }
  return ExprType::kFloat;
}

ExprPtr Constant(double value, ExprType type) {
  auto expr = std::make_shared<Expr>();
  expr->type = type;
  if (type == ExprType::kFloat || type == ExprType::kDouble) {
    expr->real = value;
  } else {
    expr->integer = static_cast<std::int64_t>(value);
  }
  return expr;
}

ExprPtr LoadOf(int buffer, AffineForm address, ExprType type) {
  auto expr = std::make_shared<Expr>();
  expr->op = ExprOp::kLoad;
  expr->type = type;
  expr->load.buffer = buffer;
  expr->load.address = std::move(address);
  return expr;
}

ExprPtr IndexOf(AffineForm form) {
  auto expr = std::make_shared<Expr>();
  expr->op = ExprOp::kIndex;
  expr->type = ExprType::kInt;
  expr->index = std::move(form);
  return expr;
}

ExprPtr Cast(ExprPtr value, ExprType type) {
  if (value->type == type) return value;
  if (value->op == ExprOp::kConstant) {
    const bool real = value->type == ExprType::kFloat || value->type == ExprType::kDouble;
    const double number = real ? value->real : static_cast<double>(value->integer);
    return Constant(type == ExprType::kBool ? static_cast<double>(number != 0) : number, type);
  }
  auto expr = std::make_shared<Expr>();
  expr->op = ExprOp::kCast;
  expr->type = type;
  expr->args = {std::move(value)};
  return expr;
}

ExprPtr Make(ExprOp op, std::vector<ExprPtr> args) {
  auto expr = std::make_shared<Expr>();
  expr->op = op;
  expr->type = op == ExprOp::kSelect ? args[1]->type : args[0]->type;
  switch (op) {
    case ExprOp::kNot:
    case ExprOp::kIsNan:
    case ExprOp::kEqual:
    case ExprOp::kNotEqual:
    case ExprOp::kLess:
    case ExprOp::kLessEqual: expr->type = ExprType::kBool; break;
    default: break;
  }
  expr->args = std::move(args);
  return expr;
}

ExprPtr RoundedDifference(const ExprPtr& a, const ExprPtr& b) {
  const bool fuses = a->op == ExprOp::kMultiply;
  return Make(ExprOp::kSubtract, {fuses ? Make(ExprOp::kRoundedProduct, a->args) : a, b});
}

ExprPtr Select(ExprPtr condition, ExprPtr then, ExprPtr otherwise) {
  return Make(ExprOp::kSelect, {std::move(condition), std::move(then), std::move(otherwise)});
}

namespace {

// Each shared node is changed once, so that it stays shared.
using Memo = std::map<const Expr*, ExprPtr>;

ExprPtr ChangeForms(const ExprPtr& expr, const FormChange& change, Memo& memo) {
  if (const auto known = memo.find(expr.get()); known != memo.end()) return known->second;
  auto result = std::make_shared<Expr>(*expr);
  const auto changed = [&](AffineForm& form) {
    const std::optional<AffineForm> other = change(form);
    if (other) form = *other;
    return other.has_value();
  };
  if (expr->op == ExprOp::kIndex && !changed(result->index)) return nullptr;
  if (expr->op == ExprOp::kLoad) {
    if (!changed(result->load.address)) return nullptr;
    for (Bound& bound : result->load.bounds)
      if (!changed(bound.form)) return nullptr;
    for (Indirect& part : result->load.indirect) {
      part.index = ChangeForms(part.index, change, memo);
      if (!part.index) return nullptr;
    }
  }
  for (ExprPtr& arg : result->args) {
    arg = ChangeForms(arg, change, memo);
    if (!arg) return nullptr;
  }
  memo[expr.get()] = result;
  return result;
}

ExprPtr ChangeLoads(const ExprPtr& expr, const LoadChange& change, Memo& memo) {
  if (const auto known = memo.find(expr.get()); known != memo.end()) return known->second;
  auto result = std::make_shared<Expr>(*expr);
  for (ExprPtr& arg : result->args) arg = ChangeLoads(arg, change, memo);
  for (Indirect& part : result->load.indirect) part.index = ChangeLoads(part.index, change, memo);
  ExprPtr final = expr->op == ExprOp::kLoad ? change(*result) : result;
  memo[expr.get()] = final;
  return final;
}

void Visit(const ExprPtr& expr, const std::function<void(const Load&, ExprType)>& visit,
           std::map<const Expr*, bool>& seen) {
  if (!seen.emplace(expr.get(), true).second) return;
  if (expr->op == ExprOp::kLoad) visit(expr->load, expr->type);
  for (const Indirect& part : expr->load.indirect) Visit(part.index, visit, seen);
  for (const ExprPtr& arg : expr->args) Visit(arg, visit, seen);
}

double NodeCost(const Expr& expr) {
  if (expr.op == ExprOp::kConstant || expr.op == ExprOp::kIndex) return 0;
  const Operator* known = FindOperator(expr.op);
  return known == nullptr ? 1 : known->cost;
}

double SumCost(const ExprPtr& expr, std::map<const Expr*, bool>& seen) {
  if (!seen.emplace(expr.get(), true).second) return 0;
  double cost = NodeCost(*expr);
  for (const ExprPtr& arg : expr->args) cost += SumCost(arg, seen);
  return cost;
}

}  // namespace

ExprPtr WithForms(const ExprPtr& expr, const FormChange& change) {
  Memo memo;
  return ChangeForms(expr, change, memo);
}

ExprPtr WithLoads(const ExprPtr& expr, const LoadChange& change) {
  Memo memo;
  return ChangeLoads(expr, change, memo);
}

bool AnyForm(const ExprPtr& expr, const FormTest& test) {
  if (expr->op == ExprOp::kIndex) return test(expr->index);
  if (expr->op == ExprOp::kLoad) {
    if (test(expr->load.address)) return true;
    for (const Bound& bound : expr->load.bounds)
      if (test(bound.form)) return true;
    for (const Indirect& part : expr->load.indirect)
      if (AnyForm(part.index, test)) return true;
  }
  return std::ranges::any_of(expr->args, [&](const ExprPtr& arg) { return AnyForm(arg, test); });
}

bool DependsOn(const ExprPtr& expr, std::size_t dimension) {
  return AnyForm(expr, [dimension](const AffineForm& form) { return form.factor[dimension] != 0; });
}

void CountUses(const ExprPtr& expr, UseCounts& uses) {
  if (++uses[expr.get()] > 1) return;
  for (const Indirect& part : expr->load.indirect) CountUses(part.index, uses);
  for (const ExprPtr& arg : expr->args) CountUses(arg, uses);
}

void VisitLoads(const ExprPtr& expr, const std::function<void(const Load&, ExprType)>& visit) {
  std::map<const Expr*, bool> seen;
  Visit(expr, visit, seen);
}

bool Loads(const ExprPtr& expr, int buffer) {
  bool loads = false;
  VisitLoads(expr, [&](const Load& load, ExprType) { loads = loads || load.buffer == buffer; });
  return loads;
}

bool SameExpression(const ExprPtr& a, const ExprPtr& b) {
  if (a == b) return true;
  const bool same_load = a->load.buffer == b->load.buffer && a->load.address == b->load.address &&
                         a->load.bounds == b->load.bounds && a->load.outside == b->load.outside;
  if (a->op != b->op || a->type != b->type || a->real != b->real || a->integer != b->integer ||
      a->index != b->index || !same_load)
    return false;
  return std::ranges::equal(a->args, b->args, SameExpression) &&
         std::ranges::equal(a->load.indirect, b->load.indirect,
                            [](const Indirect& x, const Indirect& y) {
                              return x.stride == y.stride && SameExpression(x.index, y.index);
                            });
}

bool IsPlainLoad(const Expr& expr) {
  return expr.op == ExprOp::kLoad && expr.load.bounds.empty() && expr.load.indirect.empty();
}

double Cost(const ExprPtr& expr) {
  std::map<const Expr*, bool> seen;
  return SumCost(expr, seen);
}

}  // namespace pragma::expert
