#include "expert/lower/loop_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kTimesFewer = 8;  // a stored part has so many times fewer elements

bool ReadsPlainly(const ExprPtr& expr) {
  bool plain = true;
  VisitLoads(expr, [&](const Load& load, ExprType) {
    plain = plain && load.bounds.empty() && load.indirect.empty();
  });
  return plain;
}

class PartStorer final {
 public:
  PartStorer(ProgramBuilder& builder, const Value& value, std::vector<StoredPart>& stored)
      : builder_(builder), value_(value), stored_(stored) {}

  ExprPtr Changed(const ExprPtr& expr) {
    if (expr->args.empty()) return expr;
    if (const auto known = changed_.find(expr.get()); known != changed_.end()) return known->second;
    const Shape needed = NeededBy(expr);
    const bool narrow = Elements(needed) * kTimesFewer <= Elements(value_.shape);
    ExprPtr made = narrow && expr->type == ExprType::kFloat && Cost(expr) > kCheap
                       ? Stored(expr, needed)
                       : WithChangedArguments(expr);
    changed_[expr.get()] = made;
    return made;
  }

 private:
  // Returns the value's shape with 1 for each dimension that the expression does not need.
  Shape NeededBy(const ExprPtr& expr) const {
    Shape needed = value_.shape;
    for (std::size_t dim = 0; dim < needed.size(); ++dim)
      if (!AnyForm(expr, [&](const AffineForm& form) { return form.factor[dim] != 0; }))
        needed[dim] = 1;
    return needed;
  }

  ExprPtr Stored(const ExprPtr& expr, const Shape& shape) {
    const auto same = std::ranges::find_if(
        stored_, [&](const StoredPart& part) { return SameExpression(part.expr, expr); });
    if (same != stored_.end()) return same->load;
    const int buffer = builder_.NewBuffer(DType::kFloat32, shape);
    AffineForm place = ContiguousForm(shape);
    builder_.StoreInto({expr, shape, shape, DType::kFloat32}, buffer, place);
    for (std::size_t dim = 0; dim < shape.size(); ++dim)
      if (shape[dim] == 1) place.factor[dim] = 0;
    stored_.push_back({expr, LoadOf(buffer, place, ExprType::kFloat)});
    return stored_.back().load;
  }

  ExprPtr WithChangedArguments(const ExprPtr& expr) {
    Expr changed = *expr;
    for (ExprPtr& arg : changed.args) arg = Changed(arg);
    return std::make_shared<Expr>(std::move(changed));
  }

  ProgramBuilder& builder_;
  const Value& value_;
  std::vector<StoredPart>& stored_;
  std::map<const Expr*, ExprPtr> changed_;
};

// Returns the expression as if every load began at the first element.
ExprPtr AtFirst(const ExprPtr& expr) {
  return WithLoads(expr, [](const Expr& load) -> ExprPtr {
    Expr first = load;
    first.load.address.offset = 0;
    return std::make_shared<Expr>(std::move(first));
  });
}

std::vector<std::pair<int, std::int64_t>> OffsetsOf(const ExprPtr& expr) {
  std::vector<std::pair<int, std::int64_t>> offsets;
  VisitLoads(expr, [&](const Load& load, ExprType) {
    offsets.emplace_back(load.buffer, load.address.offset);
  });
  return offsets;
}

}  // namespace

std::optional<Value> WithNarrowPartsStored(ProgramBuilder& builder, const Value& value,
                                           std::vector<StoredPart>& stored) {
  if (!value.expr || value.dims != value.shape || !ReadsPlainly(value.expr)) return std::nullopt;
  Value changed = value;
  changed.expr = PartStorer(builder, value, stored).Changed(value.expr);
  return changed;
}

std::optional<std::map<int, std::int64_t>> DistancesBetween(const ExprPtr& first,
                                                            const ExprPtr& other) {
  if (!ReadsPlainly(first) || !SameExpression(AtFirst(first), AtFirst(other))) return std::nullopt;
  const auto from = OffsetsOf(first);
  const auto to = OffsetsOf(other);
  if (from.size() != to.size()) return std::nullopt;
  std::map<int, std::int64_t> distances;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t distance = to[i].second - from[i].second;
    if (from[i].first != to[i].first ||
        distances.emplace(from[i].first, distance).first->second != distance)
      return std::nullopt;
  }
  return distances;
}

}  // namespace pragma::expert
