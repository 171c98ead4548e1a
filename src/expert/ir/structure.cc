#include "expert/ir/structure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"

namespace pragma::expert {
namespace {

// Returns an integer expression as one form, or nullopt where it is not a sum of indices.
std::optional<AffineForm> FormOf(const ExprPtr& expr, std::size_t rank) {
  if (expr->type != ExprType::kInt) return std::nullopt;
  if (expr->op == ExprOp::kIndex) return expr->index;
  if (expr->op == ExprOp::kConstant) {
    AffineForm form = ZeroForm(rank);
    form.offset = expr->integer;
    return form;
  }
  if (expr->op != ExprOp::kAdd && expr->op != ExprOp::kSubtract) return std::nullopt;
  std::optional<AffineForm> form = FormOf(expr->args[0], rank);
  const std::optional<AffineForm> other = FormOf(expr->args[1], rank);
  if (!form || !other) return std::nullopt;
  const std::int64_t sign = expr->op == ExprOp::kAdd ? 1 : -1;
  for (std::size_t i = 0; i < rank; ++i) form->factor[i] += sign * other->factor[i];
  form->offset += sign * other->offset;
  return form;
}

std::size_t RankOf(const ExprPtr& expr) {
  if (expr->op == ExprOp::kIndex) return expr->index.factor.size();
  std::size_t rank = 0;
  for (const ExprPtr& arg : expr->args) rank = std::max(rank, RankOf(arg));
  return rank;
}

// The larger side of a comparison minus the smaller one, as c * (column - row) + offset.
struct Distance {
  std::int64_t sign = 0;  // the factor c: 1 or -1
  std::int64_t offset = 0;
};

std::optional<Distance> DistanceOf(const ExprPtr& condition, std::size_t row, std::size_t column) {
  const std::size_t rank = RankOf(condition);
  if (rank <= std::max(row, column) || condition->args.size() != 2) return std::nullopt;
  const std::optional<AffineForm> left = FormOf(condition->args[0], rank);
  const std::optional<AffineForm> right = FormOf(condition->args[1], rank);
  if (!left || !right) return std::nullopt;
  Distance distance{0, right->offset - left->offset};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t factor = right->factor[i] - left->factor[i];
    if (i == column) distance.sign = factor;
    if (i != column && i != row && factor != 0) return std::nullopt;
  }
  const bool opposite = right->factor[row] - left->factor[row] == -distance.sign;
  if (!opposite || (distance.sign != 1 && distance.sign != -1)) return std::nullopt;
  return distance;
}

bool IsZero(const ExprPtr& expr) {
  return expr->op == ExprOp::kConstant && expr->real == 0 && expr->integer == 0;
}

// Returns where a comparison holds: sign * (column - row) + offset >= 0.
std::optional<Distance> WhereHolds(const ExprPtr& condition, std::size_t row, std::size_t column) {
  if (condition->op != ExprOp::kLess && condition->op != ExprOp::kLessEqual) return std::nullopt;
  std::optional<Distance> distance = DistanceOf(condition, row, column);
  if (distance && condition->op == ExprOp::kLess) --distance->offset;
  return distance;
}
// Returns where the comparison does not hold.
Distance Opposite(const Distance& distance) { return {-distance.sign, -distance.offset - 1}; }

Diagonals Both(const Diagonals& a, const Diagonals& b) {
  Diagonals both = a;
  if (b.low && (!a.low || *a.low < *b.low)) both.low = b.low;
  if (b.high && (!a.high || *b.high < *a.high)) both.high = b.high;
  return both;
}

}  // namespace

ExprPtr OnDiagonal(const ExprPtr& expr, std::size_t row, std::size_t column) {
  if (expr->op != ExprOp::kSelect || expr->args[0]->op != ExprOp::kEqual || !IsZero(expr->args[2]))
    return nullptr;
  const std::optional<Distance> distance = DistanceOf(expr->args[0], row, column);
  return distance && distance->offset == 0 ? expr->args[1] : nullptr;
}

std::optional<Triangle> TriangleOf(const ExprPtr& expr, int buffer, std::size_t row,
                                   std::size_t column) {
  if (expr->op != ExprOp::kSelect) return std::nullopt;
  std::optional<Distance> distance = WhereHolds(expr->args[0], row, column);
  if (!distance) return std::nullopt;
  if (Loads(expr->args[2], buffer)) {
    if (Loads(expr->args[1], buffer)) return std::nullopt;
    *distance = Opposite(*distance);
  }
  if (distance->sign > 0) return Triangle{MatmulStructure::kUpperOutput, -distance->offset};
  return Triangle{MatmulStructure::kLowerOutput, distance->offset};
}

Diagonals NonzeroOf(const ExprPtr& expr, std::size_t row, std::size_t column) {
  if (expr->op == ExprOp::kMultiply)
    return Both(NonzeroOf(expr->args[0], row, column), NonzeroOf(expr->args[1], row, column));
  if (expr->op == ExprOp::kNegate) return NonzeroOf(expr->args[0], row, column);
  if (expr->op != ExprOp::kSelect) return {};
  std::optional<Distance> distance = WhereHolds(expr->args[0], row, column);
  const bool zero_first = IsZero(expr->args[1]);
  if (!distance || (!zero_first && !IsZero(expr->args[2]))) return {};
  if (zero_first) *distance = Opposite(*distance);
  Diagonals here;
  if (distance->sign > 0) here.low = -distance->offset;
  if (distance->sign < 0) here.high = distance->offset;
  return Both(here, NonzeroOf(expr->args[zero_first ? 2 : 1], row, column));
}

}  // namespace pragma::expert
