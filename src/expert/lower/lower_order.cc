// Operators that order the elements of a line or search in them: sort, topk, running extremes.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/lowering.h"
#include "expert/lower/places.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;
using ExprArgs = std::vector<ExprPtr>;

// A tensor in memory, cut into lines along one dimension. One without dimensions is a line of one.
struct CutInLines {
  Value x;
  std::size_t dimension = 0;

  [[nodiscard]] Routine Of(Routine routine) const {
    for (std::size_t i = 0; i < x.shape.size(); ++i)
      (i < dimension    ? routine.outer
       : i == dimension ? routine.length
                        : routine.inner) *= x.shape[i];
    routine.operands = {x.expr->load.buffer};
    return routine;
  }
};

CutInLines LinesOf(ProgramBuilder& builder, const NodeView& node, std::size_t place) {
  const Value x = node.Tensor(0);
  if (x.shape.empty()) return {builder.Stored(builder.Reshaped(x, {1})), 0};
  return {builder.Stored(x), node.Dimension(place, "dim", x.shape.size(), -1)};
}

// Returns the elements at these places of their lines, and the places.
std::vector<Value> WithPlaces(ProgramBuilder& builder, const NodeView& node,
                              const CutInLines& lines, const Value& places) {
  const Value taken =
      Taken(builder, lines.x, AlongDimension(lines.x, lines.dimension, places), places.shape);
  return {builder.Reshaped(taken, node.shape()), builder.Reshaped(places, node.shape(1))};
}

// Returns the places of the first `count` elements in order.
Value FirstPlaces(ProgramBuilder& builder, const CutInLines& lines, std::int64_t count,
                  bool largest) {
  Shape shape = lines.x.shape;
  shape[lines.dimension] = count;
  return builder.WithRoutine(
      lines.Of({.kind = Routine::Kind::kSort, .kept = count, .largest = largest}), DType::kInt64,
      shape);
}

// Returns the place of the element that is number `count` in ascending order.
Value PlaceInOrder(ProgramBuilder& builder, const CutInLines& lines, std::int64_t count) {
  Shape shape = lines.x.shape;
  shape[lines.dimension] = 1;
  return builder.WithRoutine(lines.Of({.kind = Routine::Kind::kSort, .kept = count, .last = true}),
                             DType::kInt64, shape);
}

Values LowerSort(ProgramBuilder& builder, const NodeView& node) {
  const CutInLines lines = LinesOf(builder, node, 1);
  const Value places = FirstPlaces(builder, lines, lines.x.shape[lines.dimension],
                                   node.Flag(2, "descending", false));
  return WithPlaces(builder, node, lines, places);
}

Values LowerTopK(ProgramBuilder& builder, const NodeView& node) {
  const CutInLines lines = LinesOf(builder, node, 2);
  const Value places =
      FirstPlaces(builder, lines, node.Int(1, "k", 1), node.Flag(3, "largest", true));
  return WithPlaces(builder, node, lines, places);
}

Values LowerKthValue(ProgramBuilder& builder, const NodeView& node) {
  const CutInLines lines = LinesOf(builder, node, 2);
  return WithPlaces(builder, node, lines, PlaceInOrder(builder, lines, node.Int(1, "k", 1)));
}

// The lower of the two middle elements. A line with NaN has the first of them as its median.
Values LowerMedian(ProgramBuilder& builder, const NodeView& node) {
  const Value given = node.Tensor(0);
  const bool whole = node.overload() == "default";
  const Value x = builder.Stored(
      whole || given.shape.empty() ? builder.Reshaped(given, {Elements(given.shape)}) : given);
  const std::size_t dimension = whole ? 0 : node.Dimension(1, "dim", x.shape.size(), -1);
  const CutInLines lines{x, dimension};
  const Value middle = PlaceInOrder(builder, lines, (x.shape[dimension] - 1) / 2 + 1);
  std::vector<bool> folded(x.shape.size(), false);
  folded[dimension] = true;
  // NaN is the last in order, so it is there if the largest element is NaN.
  const Value nan = builder.Pointwise({x}, std::nullopt, DType::kFloat32, [](const ExprArgs& a) {
    return Cast(Make(ExprOp::kIsNan, {a[0]}), ExprType::kFloat);
  });
  AffineForm along = ZeroForm(x.shape.size());
  along.factor[dimension] = 1;
  const Value first_nan = builder.Folded(nan, {.fold = Fold::kArgMax,
                                               .folded = folded,
                                               .keep = true,
                                               .position = along,
                                               .dtype = DType::kInt64});
  const Value any_nan = builder.Folded(
      nan, {.fold = Fold::kMax, .folded = folded, .keep = true, .dtype = DType::kFloat32});
  const Value place = builder.Stored(builder.Pointwise(
      {any_nan, first_nan, middle}, std::nullopt, DType::kInt64, [](const ExprArgs& a) {
        return Select(Make(ExprOp::kLess, {Constant(0, a[0]->type), a[0]}), a[1], a[2]);
      }));
  const Value taken = Taken(builder, x, AlongDimension(x, dimension, place), place.shape);
  std::vector<Value> results{builder.Reshaped(taken, node.shape())};
  if (!whole) results.push_back(builder.Reshaped(place, node.shape(1)));
  return results;
}

Lower RunningExtreme(bool largest) {
  return [largest](ProgramBuilder& builder, const NodeView& node) -> Values {
    const CutInLines lines = LinesOf(builder, node, 1);
    const Value places =
        builder.WithRoutine(lines.Of({.kind = Routine::Kind::kRunningExtreme, .largest = largest}),
                            DType::kInt64, lines.x.shape);
    return WithPlaces(builder, node, lines, places);
  };
}

// Searches in one sorted line for all values, or in each line for the values of the same line.
Values Search(ProgramBuilder& builder, const NodeView& node, std::size_t sorted_at) {
  if (!node.IsTensor(0) || !node.IsTensor(1)) return Unsupported(node, "for a number");
  if (node.Has(4, "sorter")) return Unsupported(node, "with a sorter");
  const Value sorted = builder.Stored(node.Tensor(sorted_at));
  const Value values = builder.Stored(node.Tensor(1 - sorted_at));
  if (sorted.dtype != values.dtype) return Unsupported(node, "for values of another type");
  Routine routine{.kind = Routine::Kind::kSearch,
                  .operands = {sorted.expr->load.buffer, values.expr->load.buffer}};
  routine.length = sorted.shape.back();
  routine.outer = Elements(sorted.shape) / routine.length;
  routine.kept = Elements(values.shape) / routine.outer;
  routine.after = node.Flag(3, "right", false) || node.Text(4, "side") == "right";
  return std::vector{builder.WithRoutine(routine, node.dtype(), node.shape())};
}

Values LowerSearchSorted(ProgramBuilder& builder, const NodeView& node) {
  return Search(builder, node, 0);
}
Values LowerBucketize(ProgramBuilder& builder, const NodeView& node) {
  return Search(builder, node, 1);
}

}  // namespace

const LowerTable& OrderOperators() {
  static const LowerTable kTable{{"sort", LowerSort},
                                 {"topk", LowerTopK},
                                 {"kthvalue", LowerKthValue},
                                 {"median", LowerMedian},
                                 {"cummax", RunningExtreme(true)},
                                 {"cummin", RunningExtreme(false)},
                                 {"searchsorted", LowerSearchSorted},
                                 {"bucketize", LowerBucketize}};
  return kTable;
}

}  // namespace pragma::expert
