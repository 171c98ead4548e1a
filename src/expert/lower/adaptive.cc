#include "expert/lower/adaptive.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
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

}  // namespace

Value AdaptiveFolded(ProgramBuilder& builder, const Value& x, const Shape& out, Fold fold) {
  const double outside = fold == Fold::kSum ? 0 : -INFINITY;
  Value value = x;
  const std::size_t lead = x.shape.size() - out.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (value.shape[lead + i] == out[i]) continue;
    value = builder.Settled(value);
    if (!IsPlainLoad(*value.expr)) value = builder.Stored(value);
    const Value windows = AdaptiveWindows(builder, value, lead + i, out[i], outside);
    std::vector<bool> folded(windows.shape.size(), false);
    folded.back() = true;
    const DType kept = fold == Fold::kSum ? SumType(x.dtype) : x.dtype;
    value = builder.Folded(windows, {.fold = fold, .folded = folded, .dtype = kept});
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
