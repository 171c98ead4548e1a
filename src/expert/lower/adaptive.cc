#include "expert/lower/adaptive.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/folds.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

ExprPtr Whole(std::int64_t value) { return Constant(static_cast<double>(value), ExprType::kInt); }

// Window o is [o * in / out, ((o + 1) * in + out - 1) / out), both rounded down.
ExprPtr Start(std::size_t rank, std::size_t dimension, std::int64_t in, std::int64_t out) {
  AffineForm form = ZeroForm(rank);
  form.factor[dimension] = in;
  return Make(ExprOp::kFloorDivide, {IndexOf(form), Whole(out)});
}

ExprPtr Length(std::size_t rank, std::size_t dimension, std::int64_t in, std::int64_t out) {
  AffineForm form = ZeroForm(rank);
  form.factor[dimension] = in;
  form.offset = in + out - 1;
  const ExprPtr end = Make(ExprOp::kFloorDivide, {IndexOf(form), Whole(out)});
  return Make(ExprOp::kSubtract, {end, Start(rank, dimension, in, out)});
}

std::int64_t LongestWindow(std::int64_t in, std::int64_t out) {
  std::int64_t longest = 0;
  for (std::int64_t o = 0; o < out; ++o)
    longest = std::max(longest, ((o + 1) * in + out - 1) / out - o * in / out);
  return longest;
}

// Returns x over [..., out, ..., window]. Positions behind the end of a window have the value
// `outside`.
Value AdaptiveWindows(ProgramBuilder& builder, const Value& x, std::size_t dimension,
                      std::int64_t out, double outside) {
  const std::size_t rank = x.shape.size() + 1;
  const std::int64_t in = x.shape[dimension];
  Shape shape = x.shape;
  shape[dimension] = out;
  shape.push_back(LongestWindow(in, out));
  IndexMap map = IdentityMap(rank);
  map.index.pop_back();
  const std::int64_t stride = x.expr->load.address.factor[dimension];
  map.index[dimension] = ZeroForm(rank);
  const Value base = builder.Mapped(x, map, shape);
  AffineForm step = ZeroForm(rank);
  step.factor[rank - 1] = 1;
  // Positions that are not used are clamped, so that they also read from inside the input.
  const ExprPtr place = Make(ExprOp::kAdd, {Start(rank, dimension, in, out), IndexOf(step)});
  auto load = std::make_shared<Expr>(*base.expr);
  load->load.indirect.push_back({Make(ExprOp::kMin, {place, Whole(in - 1)}), stride});
  const ExprPtr inside = Make(ExprOp::kLess, {IndexOf(step), Length(rank, dimension, in, out)});
  Value windows = base;
  windows.expr = Select(inside, std::move(load), Constant(outside, x.expr->type));
  return windows;
}

Value WindowsOf(ProgramBuilder& builder, const Value& given, std::size_t dimension,
                std::int64_t out, double outside) {
  Value x = builder.Settled(given);
  if (!IsPlainLoad(*x.expr)) x = builder.Stored(x);
  return AdaptiveWindows(builder, x, dimension, out, outside);
}

std::vector<bool> LastOf(const Value& windows) {
  std::vector<bool> folded(windows.shape.size(), false);
  folded.back() = true;
  return folded;
}

Value Combined(ProgramBuilder& builder, ExprOp op, const Value& a, const Value& b) {
  return builder.Pointwise({a, b}, ExprType::kInt, DType::kInt64,
                           [op](const std::vector<ExprPtr>& args) { return Make(op, args); });
}

// Returns the elements of x at the positions `at` along one dimension.
Value PickedAt(ProgramBuilder& builder, const Value& given, std::size_t dimension,
               const Value& at) {
  const Value x = builder.Stored(given);
  IndexMap map = IdentityMap(x.shape.size());
  map.index[dimension] = ZeroForm(x.shape.size());
  Value picked = builder.Mapped(x, map, at.shape);
  auto load = std::make_shared<Expr>(*picked.expr);
  load->load.indirect.push_back({at.expr, x.expr->load.address.factor[dimension]});
  picked.expr = std::move(load);
  return picked;
}

}  // namespace

// The last dimension comes first, so that of equal elements the first one in memory counts.
std::vector<Value> AdaptiveMaximum(ProgramBuilder& builder, const Value& x, const Shape& out) {
  Value value = x;
  std::optional<Value> places;
  std::int64_t stride = 1;
  for (std::size_t i = out.size(); i-- > 0;) {
    const std::size_t dimension = x.shape.size() - out.size() + i;
    const std::int64_t in = value.shape[dimension];
    const Value windows = WindowsOf(builder, value, dimension, out[i], -INFINITY);
    ProgramBuilder::FoldPlan plan{.fold = Fold::kMax, .folded = LastOf(windows), .dtype = x.dtype};
    value = builder.Folded(windows, plan);
    plan.fold = Fold::kArgMax;
    plan.dtype = DType::kInt64;
    plan.position = ZeroForm(windows.shape.size());
    plan.position.factor.back() = 1;
    const auto number = [&](ExprPtr expr) {
      return Value{std::move(expr), value.shape, value.shape, DType::kInt64};
    };
    const Value start = number(Start(value.shape.size(), dimension, in, out[i]));
    const Value at =
        builder.Stored(Combined(builder, ExprOp::kAdd, builder.Folded(windows, plan), start));
    const Value offset = Combined(builder, ExprOp::kMultiply, at, number(Whole(stride)));
    places =
        places ? Combined(builder, ExprOp::kAdd, PickedAt(builder, *places, dimension, at), offset)
               : offset;
    stride *= in;
  }
  return {value, *places};
}

Value AdaptiveSum(ProgramBuilder& builder, const Value& x, const Shape& out) {
  Value value = x;
  const std::size_t lead = x.shape.size() - out.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (value.shape[lead + i] == out[i]) continue;
    const Value windows = WindowsOf(builder, value, lead + i, out[i], 0);
    value = builder.Folded(windows, {.folded = LastOf(windows), .dtype = SumType(x.dtype)});
  }
  return value;
}

ExprPtr AdaptiveWeight(const Shape& in, const Shape& out, const Shape& shape, ExprType type) {
  const std::size_t rank = shape.size();
  ExprPtr count = Whole(1);
  for (std::size_t i = 0; i < out.size(); ++i)
    count = Make(ExprOp::kMultiply, {count, Length(rank, rank - out.size() + i, in[i], out[i])});
  return Make(ExprOp::kDivide, {Constant(1, type), Cast(count, type)});
}

}  // namespace pragma::expert
