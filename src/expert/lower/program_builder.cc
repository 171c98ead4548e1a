#include "expert/lower/program_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {
namespace {

ExprPtr InOtherDims(const ExprPtr& expr, const Shape& from, const Shape& to) {
  if (from == to) return expr;
  return WithForms(expr, [&](const AffineForm& form) { return Reshape(form, from, to); });
}

// Returns whether the value is the whole of a scratch buffer or an argument, element by element in
// order.
bool IsWhole(const Value& value, const Program& program) {
  if (!IsPlainLoad(*value.expr)) return false;
  const Buffer& buffer = program.buffers[static_cast<std::size_t>(value.expr->load.buffer)];
  if (buffer.dtype != value.dtype || Elements(buffer.shape) != Elements(value.dims)) return false;
  const std::optional<AffineForm> whole =
      Reshape(ContiguousForm(buffer.shape), buffer.shape, value.dims);
  return whole && Reshape(value.expr->load.address, value.dims, value.dims) == whole;
}

// Returns the value's dimensions in the order in which the largest tensor that it reads has them,
// outermost first; in their own order where that tensor does not vary with each of them.
std::vector<std::int64_t> OrderRead(const Value& value) {
  std::vector<std::int64_t> order(value.shape.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](std::int64_t dim) { return value.shape[static_cast<std::size_t>(dim)]; };
  AffineForm largest;
  std::int64_t most = -1;
  VisitLoads(value.expr, [&](const Load& load, ExprType) {
    std::int64_t count = 1;
    for (const std::int64_t dim : order)
      if (load.address.factor[static_cast<std::size_t>(dim)] != 0) count *= size(dim);
    if (count > most) largest = load.address;
    most = std::max(most, count);
  });
  const auto factor = [&](std::int64_t dim) {
    return largest.factor[static_cast<std::size_t>(dim)];
  };
  const auto varies = [&](std::int64_t dim) { return size(dim) == 1 || factor(dim) > 0; };
  if (most < 0 || value.dims != value.shape || !std::ranges::all_of(order, varies)) return order;
  std::vector<std::int64_t> sorted;
  for (const std::int64_t dim : order)
    if (size(dim) > 1) sorted.push_back(dim);
  std::ranges::stable_sort(sorted, std::greater<>(), factor);
  // Dimensions of one element stay where they are.
  for (std::size_t i = 0, next = 0; i < order.size(); ++i)
    if (size(order[i]) > 1) order[i] = sorted[next++];
  return order;
}

}  // namespace

std::optional<std::int64_t> ElementsBetween(const Value& first, const Value& other) {
  if (!first.expr || !other.expr || !IsPlainLoad(*first.expr) || !IsPlainLoad(*other.expr) ||
      first.dims != other.dims || first.expr->load.buffer != other.expr->load.buffer ||
      first.expr->load.address.factor != other.expr->load.address.factor)
    return std::nullopt;
  return other.expr->load.address.offset - first.expr->load.address.offset;
}

const Concatenation* ProgramBuilder::LongestStart(const std::vector<std::string>& tensors,
                                                  std::size_t dimension) const {
  const Concatenation* longest = nullptr;
  for (const Concatenation& made : concatenations_) {
    const bool starts =
        made.dimension == dimension && made.tensors.size() <= tensors.size() &&
        std::ranges::equal(made.tensors, std::span(tensors).first(made.tensors.size()));
    if (starts && (longest == nullptr || longest->tensors.size() < made.tensors.size()))
      longest = &made;
  }
  return longest;
}

void ProgramBuilder::Begin(std::string_view name, std::string_view what) {
  name_ = name;
  what_ = what;
}

int ProgramBuilder::NewBuffer(DType dtype, const Shape& shape) {
  program_.buffers.push_back({Buffer::Kind::kScratch, name_, dtype, shape});
  return static_cast<int>(program_.buffers.size()) - 1;
}

Value ProgramBuilder::Whole(int buffer) const {
  const Buffer& whole = program_.buffers[static_cast<std::size_t>(buffer)];
  return {LoadOf(buffer, ContiguousForm(whole.shape), ComputeType(whole.dtype)), whole.shape,
          whole.shape, whole.dtype};
}

Value ProgramBuilder::Number(double value, DType dtype) { return Filled(value, dtype, {}); }

Value ProgramBuilder::Filled(double value, DType dtype, const Shape& shape) {
  return {Constant(value, ComputeType(dtype)), shape, shape, dtype};
}

Value ProgramBuilder::Positions(AffineForm form, Shape shape) {
  return {IndexOf(std::move(form)), shape, shape, DType::kInt64};
}

Value ProgramBuilder::Settled(const Value& value) {
  if (value.dims == value.shape) return value;
  if (ExprPtr expr = InOtherDims(value.expr, value.dims, value.shape))
    return {std::move(expr), value.shape, value.shape, value.dtype};
  return Stored(value);
}

Value ProgramBuilder::Stored(const Value& value) {
  if (IsWhole(value, program_)) {
    return {InOtherDims(value.expr, value.dims, value.shape), value.shape, value.shape,
            value.dtype};
  }
  if (Value known = Known(value); known.expr != value.expr) return known;
  const int buffer = NewBuffer(value.dtype, value.shape);
  StoreInto(value, buffer, ContiguousForm(value.dims));
  kept_[value.expr.get()] = {value, Whole(buffer)};
  return Whole(buffer);
}

Value ProgramBuilder::StoredAsRead(const Value& value) {
  const std::vector<std::int64_t> order = OrderRead(value);
  if (std::ranges::is_sorted(order) || IsWhole(value, program_)) return Stored(value);
  if (Value known = Known(value); known.expr != value.expr) return known;
  Shape turned;
  std::vector<std::int64_t> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    turned.push_back(value.shape[static_cast<std::size_t>(order[i])]);
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  const Value stored = Stored(Mapped(value, PermuteMap(order), turned));
  Value seen = Mapped(stored, PermuteMap(back), value.shape);
  kept_[value.expr.get()] = {value, seen};
  return seen;
}

Value ProgramBuilder::Known(const Value& value) const {
  const auto kept = kept_.find(value.expr.get());
  if (kept == kept_.end()) return value;
  const Value& given = kept->second.value;
  const bool same = given.dims == value.dims && given.shape == value.shape;
  if (!same || given.dtype != value.dtype) return value;
  Value stored = kept->second.stored;
  stored.complex = value.complex;
  return stored;
}

Value ProgramBuilder::ForReuse(const Value& value) {
  return Cost(value.expr) > kCheap ? Stored(value) : value;
}

void ProgramBuilder::StoreInto(const Value& value, int buffer, const AffineForm& place) {
  Step step;
  step.shape = value.dims;
  step.folded.assign(value.dims.size(), false);
  step.expr = value.expr;
  step.buffer = buffer;
  step.place = place;
  step.name = name_;
  step.what = what_;
  step.repeat = repeat_;
  program_.steps.push_back(std::move(step));
}

Value ProgramBuilder::Reshaped(const Value& value, const Shape& shape) {
  if (ExprPtr expr = InOtherDims(value.expr, value.dims, shape))
    return {std::move(expr), shape, shape, value.dtype};
  return {value.expr, value.dims, shape, value.dtype};
}

Value ProgramBuilder::Mapped(const Value& value, const IndexMap& map, const Shape& shape) {
  const Value settled = Settled(value);
  ExprPtr expr = WithForms(settled.expr, [&](const AffineForm& form) { return Apply(form, map); });
  return {std::move(expr), shape, shape, value.dtype};
}

Value ProgramBuilder::Expanded(const Value& value, const Shape& shape) {
  if (value.shape == shape) return value;
  return Mapped(value, BroadcastMap(value.shape, shape), shape);
}

Value ProgramBuilder::Pointwise(const std::vector<Value>& values, std::optional<ExprType> compute,
                                DType result, const Combine& combine) {
  const auto cast = [&](const ExprPtr& expr) { return compute ? Cast(expr, *compute) : expr; };
  Shape shape;
  for (const Value& value : values) shape = BroadcastShapes(shape, value.shape).value_or(shape);
  // Uses the dims of an argument whose reshape is still pending, provided that all other arguments
  // can follow.
  Shape dims = shape;
  for (const Value& value : values)
    if (value.dims != value.shape && value.shape == shape) dims = value.dims;
  std::vector<ExprPtr> args;
  for (const Value& value : values) {
    ExprPtr expr = value.dims == dims && value.shape == shape ? value.expr : nullptr;
    if (!expr) {
      const Value wide = Expanded(value, shape);
      expr = InOtherDims(wide.expr, wide.dims, dims);
    }
    if (!expr) break;
    args.push_back(cast(expr));
  }
  if (args.size() == values.size()) return {combine(args), dims, shape, result};
  args.clear();
  for (const Value& value : values) args.push_back(cast(Settled(Expanded(value, shape)).expr));
  return {combine(args), shape, shape, result};
}

Value ProgramBuilder::Folded(const Value& value, const FoldPlan& plan) {
  const Value settled = Settled(value);
  Shape kept;
  Shape result;
  for (std::size_t i = 0; i < settled.shape.size(); ++i) {
    kept.push_back(plan.folded[i] ? 1 : settled.shape[i]);
    if (!plan.folded[i] || plan.keep) result.push_back(kept.back());
  }
  const int buffer = NewBuffer(plan.dtype, result);
  AffineForm place = ContiguousForm(kept);
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (plan.folded[i]) place.factor[i] = 0;
  StoreInto(settled, buffer, place);
  last().kind = Step::Kind::kFold;
  last().fold = plan.fold;
  last().folded = plan.folded;
  last().position = plan.position;
  return Whole(buffer);
}

Value ProgramBuilder::Scanned(const Value& value, Fold fold, std::size_t dimension, DType dtype) {
  const Value settled = Settled(value);
  const int buffer = NewBuffer(dtype, settled.shape);
  StoreInto(settled, buffer, ContiguousForm(settled.shape));
  last().kind = Step::Kind::kScan;
  last().fold = fold;
  last().folded[dimension] = true;
  return Whole(buffer);
}

Value ProgramBuilder::WithRoutine(Routine routine, DType dtype, const Shape& shape) {
  ExprPtr all = Constant(0, ExprType::kFloat);
  for (const int operand : routine.operands)
    all = Make(ExprOp::kAdd, {all, LoadOf(operand, ZeroForm(shape.size()), ExprType::kFloat)});
  const int buffer = NewBuffer(dtype, shape);
  StoreInto({all, shape, shape, dtype}, buffer, ContiguousForm(shape));
  last().kind = Step::Kind::kRoutine;
  last().routine = std::move(routine);
  return Whole(buffer);
}

void ProgramBuilder::Scatter(const Value& source, const ExprPtr& place, std::optional<Fold> combine,
                             bool overlaps) {
  const Value settled = Settled(source);
  ExprPtr pair = Make(ExprOp::kAdd, {Cast(settled.expr, place->type), place});
  Shape shape = settled.shape;
  if (shape.empty()) {  // a loop of one iteration
    shape = {1};
    pair = WithForms(pair, [](const AffineForm& form) { return AffineForm{{0}, form.offset}; });
  }
  StoreInto({pair, shape, shape, source.dtype}, place->load.buffer, pair->args[1]->load.address);
  last().kind = Step::Kind::kRoutine;
  last().routine =
      Routine{.kind = Routine::Kind::kScatter, .combine = combine, .overlaps = overlaps};
}

void ProgramBuilder::BeginRepeat(std::int64_t count) {
  repeat_ = static_cast<int>(program_.repeats.size());
  program_.repeats.push_back({count, {}});
}

void ProgramBuilder::EndRepeat(std::map<int, std::int64_t> step) {
  program_.repeats.back().step = std::move(step);
  repeat_ = -1;
}

}  // namespace pragma::expert
