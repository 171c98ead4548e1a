// Operators that write at places that depend on data: scatter, index_put and their reductions.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/folds.h"
#include "expert/lower/lowering.h"
#include "expert/lower/places.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;
using Args = std::vector<ExprPtr>;

// Sums and products of 16 bits are kept in float32 until they are complete.
DType KeptType(DType dtype, std::optional<Fold> combine) {
  const bool short_float = dtype == DType::kBFloat16 || dtype == DType::kFloat16;
  const bool rounds = combine == Fold::kSum || combine == Fold::kProduct;
  return short_float && rounds ? DType::kFloat32 : dtype;
}

// Where the values go: `values` has the shape over which `at` is.
struct Writes {
  Value values;
  Addressing at;
  std::optional<Fold> combine;  // without: the last value replaces what was there
};

// Returns a copy of the tensor with the values written into it.
Value Written(ProgramBuilder& builder, const Value& x, const Writes& writes) {
  const DType kept = KeptType(x.dtype, writes.combine);
  const int buffer = builder.NewBuffer(kept, x.shape);
  builder.StoreInto(builder.Settled(AsType(builder, x, kept)), buffer, ContiguousForm(x.shape));
  const Value whole = builder.Whole(buffer);
  if (Elements(writes.values.shape) == 0) return AsType(builder, whole, x.dtype);
  builder.Scatter(writes.values, LoadAt(builder, *whole.expr, x.shape, writes.at), writes.combine);
  return AsType(builder, whole, x.dtype);
}

Value Filled(double value, DType dtype, const Shape& shape) {
  return {Constant(value, ComputeType(dtype)), shape, shape, dtype};
}

// Returns the number that a reduction of this kind may begin with.
double Neutral(Fold fold) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (fold == Fold::kProduct) return 1;
  return fold == Fold::kMax ? -kInfinity : fold == Fold::kMin ? kInfinity : 0;
}

bool IsReal(DType dtype) {
  const ExprType type = ComputeType(dtype);
  return type == ExprType::kFloat || type == ExprType::kDouble;
}

// Returns how many values go to each element, as a number of the tensor's type.
Value Counted(ProgramBuilder& builder, const Value& x, const Writes& writes, double first) {
  const DType dtype = KeptType(x.dtype, Fold::kSum);
  return Written(builder, Filled(first, dtype, x.shape),
                 {Filled(1, dtype, writes.values.shape), writes.at, Fold::kSum});
}

// A reduction in which an element that no value goes to keeps its own, and all others begin anew.
Value Renewed(ProgramBuilder& builder, const Value& x, const Writes& writes) {
  const Value count = builder.Stored(Counted(builder, x, writes, 0));
  const Value start = builder.Pointwise({count, x}, std::nullopt, x.dtype, [&](const Args& a) {
    const ExprPtr empty = Make(ExprOp::kEqual, {a[0], Constant(0, a[0]->type)});
    return Select(empty, a[1], Constant(Neutral(*writes.combine), a[1]->type));
  });
  return Written(builder, start, writes);
}

// The mean, of which the element itself is a part if `with_own` is true.
Value Averaged(ProgramBuilder& builder, const Value& x, Writes writes, bool with_own) {
  const Value count = builder.Stored(Counted(builder, x, writes, with_own ? 1 : 0));
  writes.combine = Fold::kSum;
  const Value sum = with_own ? Written(builder, x, writes) : Renewed(builder, x, writes);
  return builder.Pointwise({sum, count}, ComputeType(x.dtype), x.dtype, [](const Args& a) {
    return Make(ExprOp::kDivide, {a[0], Make(ExprOp::kMax, {a[1], Constant(1, a[1]->type)})});
  });
}

std::optional<Fold> FoldNamed(std::string_view name) {
  if (name == "sum" || name == "add") return Fold::kSum;
  if (name == "prod" || name == "multiply") return Fold::kProduct;
  if (name == "amax") return Fold::kMax;
  if (name == "amin") return Fold::kMin;
  return std::nullopt;
}

// The values and places of scatter(x, dim, index, values), where the values may be a number and may
// be more than the index has places for.
Writes ScatterOf(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const Value index = node.Tensor(2);
  const Value values =
      node.IsTensor(3) ? builder.Mapped(node.Tensor(3), IdentityMap(x.shape.size()), index.shape)
                       : Filled(node.Real(3, "value", 0), x.dtype, index.shape);
  return {values, AlongDimension(x, node.Dimension(1, "dim", x.shape.size()), index), std::nullopt};
}

Values LowerScatter(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  if (x.shape.empty()) return Unsupported(node, "of a tensor without dimensions");
  Writes writes = ScatterOf(builder, node);
  if (node.overload() == "reduce" || node.overload() == "value_reduce")
    writes.combine = FoldNamed(node.Text(4, "reduce"));
  return std::vector{Written(builder, x, writes)};
}

Values LowerScatterAdd(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  if (x.shape.empty()) return Unsupported(node, "of a tensor without dimensions");
  if (x.dtype == DType::kBool) return Unsupported(node, "of bools");
  Writes writes = ScatterOf(builder, node);
  writes.combine = Fold::kSum;
  return std::vector{Written(builder, x, writes)};
}

Values LowerScatterReduce(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  if (x.shape.empty()) return Unsupported(node, "of a tensor without dimensions");
  Writes writes = ScatterOf(builder, node);
  const std::string reduce = node.Text(4, "reduce");
  const bool with_own = node.Flag(5, "include_self", true);
  writes.combine = FoldNamed(reduce);
  if (!IsReal(x.dtype) && (reduce == "mean" || !with_own))
    return Unsupported(node, "of integers, as a mean or without the elements themselves");
  if (reduce == "mean") return std::vector{Averaged(builder, x, writes, with_own)};
  return std::vector{with_own ? Written(builder, x, writes) : Renewed(builder, x, writes)};
}

// x[mask] = number, as a selection.
Values Masked(ProgramBuilder& builder, const NodeView& node, const Value& mask, std::size_t first) {
  const Value x = node.Tensor(0);
  const Value value = node.Tensor(2);
  if (Elements(value.shape) != 1 || node.Flag(3, "accumulate", false))
    return Unsupported(node, "by a mask, with several values");
  Shape shape(x.shape.size(), 1);
  for (std::size_t i = 0; i < mask.shape.size(); ++i) shape[first + i] = mask.shape[i];
  return std::vector{builder.Pointwise(
      {builder.Reshaped(mask, shape), builder.Reshaped(value, {}), x}, std::nullopt, x.dtype,
      [&](const Args& a) { return Select(a[0], Cast(a[1], a[2]->type), a[2]); })};
}

// x[i, :, j] = values
Values LowerIndexPut(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::vector<Value> tensors = node.Tensors(1);
  const std::vector<ScalarValue>& items = node.node().args[1].items;
  if (tensors.size() == 1 && tensors[0].dtype == DType::kBool) {
    std::size_t first = 0;
    while (items[first].kind == ScalarValue::Kind::kNone) ++first;
    return Masked(builder, node, tensors[0], first);
  }
  std::vector<Place> places = TRY(IndicesOf(node));
  const bool adds = node.Flag(3, "accumulate", false);
  if (places.empty() || (adds && x.dtype == DType::kBool)) return Unsupported(node, "of bools");
  const Shape shape = IndexedShape(x.shape, places);
  const Value values = builder.Expanded(node.Tensor(2), shape);
  return std::vector{Written(builder, x,
                             {values, Indexed(builder, x.shape, std::move(places), shape),
                              adds ? std::optional(Fold::kSum) : std::nullopt})};
}

}  // namespace

const LowerTable& ScatterOperators() {
  static const LowerTable kTable{{"scatter", LowerScatter},
                                 {"scatter_add", LowerScatterAdd},
                                 {"scatter_reduce", LowerScatterReduce},
                                 {"index_put", LowerIndexPut},
                                 {"_unsafe_index_put", LowerIndexPut}};
  return kTable;
}

}  // namespace pragma::expert
