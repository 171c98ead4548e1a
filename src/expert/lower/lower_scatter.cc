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
  bool overlaps = false;        // only along the first dimension do values go to other elements
};

// Returns a copy of the tensor with the values written into it.
Value Written(ProgramBuilder& builder, const Value& x, const Writes& writes) {
  const DType kept = KeptType(x.dtype, writes.combine);
  const int buffer = builder.NewBuffer(kept, x.shape);
  builder.StoreInto(builder.Settled(AsType(builder, x, kept)), buffer, ContiguousForm(x.shape));
  const Value whole = builder.Whole(buffer);
  if (Elements(writes.values.shape) == 0) return AsType(builder, whole, x.dtype);
  builder.Scatter(writes.values, LoadAt(builder, *whole.expr, x.shape, writes.at), writes.combine,
                  writes.overlaps);
  return AsType(builder, whole, x.dtype);
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
  return Written(builder, ProgramBuilder::Filled(first, dtype, x.shape),
                 {ProgramBuilder::Filled(1, dtype, writes.values.shape), writes.at, Fold::kSum});
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

// Divides sums by the numbers of their terms. A sum of none stays as it is.
Value PerTerm(ProgramBuilder& builder, const Value& sum, const Value& count) {
  return builder.Pointwise({sum, count}, ComputeType(sum.dtype), sum.dtype, [](const Args& a) {
    return Make(ExprOp::kDivide, {a[0], Make(ExprOp::kMax, {a[1], Constant(1, a[1]->type)})});
  });
}

// The mean, of which the element itself is a part if `with_own` is true.
Value Averaged(ProgramBuilder& builder, const Value& x, Writes writes, bool with_own) {
  const Value count = builder.Stored(Counted(builder, x, writes, with_own ? 1 : 0));
  writes.combine = Fold::kSum;
  const Value sum = with_own ? Written(builder, x, writes) : Renewed(builder, x, writes);
  return PerTerm(builder, sum, count);
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
                       : ProgramBuilder::Filled(node.Real(3, "value", 0), x.dtype, index.shape);
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

// A reduction whose name and include_self come after the values.
Values Reduced(ProgramBuilder& builder, const NodeView& node, Writes writes) {
  const Value x = node.Tensor(0);
  const std::string reduce = node.Text(4, "reduce");
  const bool with_own = node.Flag(5, "include_self", true);
  writes.combine = FoldNamed(reduce);
  if (!IsReal(x.dtype) && (reduce == "mean" || !with_own))
    return Unsupported(node, "of integers, as a mean or without the elements themselves");
  if (reduce == "mean") return std::vector{Averaged(builder, x, writes, with_own)};
  return std::vector{with_own ? Written(builder, x, writes) : Renewed(builder, x, writes)};
}

Values LowerScatterReduce(ProgramBuilder& builder, const NodeView& node) {
  if (node.Tensor(0).shape.empty()) return Unsupported(node, "of a tensor without dimensions");
  return Reduced(builder, node, ScatterOf(builder, node));
}

// The values are slices, and a list says where along the dimension each goes.
Values LowerIndexReduce(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  if (x.shape.empty()) return Unsupported(node, "of a tensor without dimensions");
  const Value source = node.Tensor(3);
  const std::size_t dimension = node.Dimension(1, "dim", x.shape.size());
  return Reduced(builder, node,
                 {source, Indexed(builder, x.shape, {{dimension, node.Tensor(2)}}, source.shape),
                  std::nullopt});
}

// Returns the number of each element that is true among all that are, counted from 0, in a list
// `count` long. Where there are more than that, they are the last one.
Value Numbers(ProgramBuilder& builder, const Value& mask, std::int64_t count) {
  const Value list = builder.Reshaped(mask, {Elements(mask.shape)});
  const Value flags = AsType(builder, list, DType::kInt64);
  const Value until = builder.Scanned(flags, Fold::kSum, 0, DType::kInt64);
  return builder.Pointwise({until}, ExprType::kInt, DType::kInt64, [&](const Args& a) {
    const ExprPtr number = Make(ExprOp::kSubtract, {a[0], Constant(1, ExprType::kInt)});
    const ExprPtr last = Constant(static_cast<double>(count - 1), ExprType::kInt);
    return Make(ExprOp::kMin, {last, Make(ExprOp::kMax, {Constant(0, ExprType::kInt), number})});
  });
}

// Returns x with rows of `values` where `mask` is true, one after the other. `x` is [rows, ...],
// the mask a list, and `values` is [count, ...], which broadcasts over what follows.
Value WithRows(ProgramBuilder& builder, const Value& x, const Value& mask, const Value& values,
               bool adds) {
  const Value rows = builder.Stored(values);
  Shape shape = rows.shape;
  shape[0] = x.shape[0];
  const Value places = Numbers(builder, mask, rows.shape[0]);
  const Value taken =
      Taken(builder, rows, Indexed(builder, rows.shape, {{0, places, false}}, shape), shape);
  Shape each(x.shape.size(), 1);
  each[0] = x.shape[0];
  return builder.Pointwise({builder.Reshaped(mask, each), builder.Expanded(taken, x.shape), x},
                           std::nullopt, x.dtype, [&](const Args& a) {
                             const ExprPtr value = Cast(a[1], a[2]->type);
                             return Select(a[0], adds ? Make(ExprOp::kAdd, {a[2], value}) : value,
                                           a[2]);
                           });
}

// The elements of a list replace those of x where the mask is true, in order.
Values LowerMaskedScatter(ProgramBuilder& builder, const NodeView& node) {
  const Shape list{Elements(node.shape())};
  const auto flat = [&](const Value& value) {
    return builder.Settled(builder.Reshaped(builder.Expanded(value, node.shape()), list));
  };
  const Value source = node.Tensor(2);
  const Value values = builder.Reshaped(source, {Elements(source.shape)});
  const Value mask = builder.Stored(flat(node.Tensor(1)));
  return std::vector{
      builder.Reshaped(WithRows(builder, flat(node.Tensor(0)), mask, values, false), node.shape())};
}

// x[mask] = values, one row for each element of the mask that is true.
Values MaskedRows(ProgramBuilder& builder, const NodeView& node, const Value& mask) {
  const Value x = node.Tensor(0);
  const Value values = node.Tensor(2);
  const Shape rest(x.shape.begin() + static_cast<std::ptrdiff_t>(mask.shape.size()), x.shape.end());
  if (values.shape.size() > rest.size() + 1) return Unsupported(node, "by a mask, with odd values");
  Shape rows = rest;
  rows.insert(rows.begin(), Elements(mask.shape));
  Shape given = values.shape;  // one row for all, where it has fewer dimensions
  given.insert(given.begin(), rest.size() + 1 - given.size(), 1);
  const Value list = builder.Stored(builder.Reshaped(mask, {rows[0]}));
  const Value written =
      WithRows(builder, builder.Settled(builder.Reshaped(x, rows)), list,
               builder.Reshaped(values, given), node.Flag(3, "accumulate", false));
  return std::vector{builder.Reshaped(written, x.shape)};
}

// x[mask] = number, as a selection.
Values Masked(ProgramBuilder& builder, const NodeView& node, const Value& mask, std::size_t first) {
  const Value x = node.Tensor(0);
  const Value value = node.Tensor(2);
  if (Elements(value.shape) != 1 || node.Flag(3, "accumulate", false)) {
    if (first != 0)
      return Unsupported(node, "by a mask behind other dimensions, with several values");
    return MaskedRows(builder, node, mask);
  }
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

// Each value goes to the element of the image whose number in its plane is in the list of indices.
// Arguments: the values, the image, then the windows' form, and last the indices.
Values LowerMaxPoolBackward(ProgramBuilder& builder, const NodeView& node) {
  const Value values = node.Tensor(0);
  const Shape& image = node.shape();
  const std::int64_t plane = image[image.size() - 1] * image[image.size() - 2];
  const Shape planes{Elements(image) / plane, plane};
  const Shape lists{planes[0], Elements(values.shape) / planes[0]};
  const Value start = ProgramBuilder::Filled(0, node.dtype(), planes);
  const Value index =
      builder.Settled(builder.Reshaped(node.Tensor(node.node().args.size() - 1), lists));
  const Writes writes{builder.Settled(builder.Reshaped(values, lists)),
                      AlongDimension(start, 1, index), Fold::kSum};
  return std::vector{builder.Reshaped(Written(builder, start, writes), image)};
}

// Returns the bag of each element of a list.
Value BagsOf(ProgramBuilder& builder, const Value& offsets, std::int64_t count) {
  const Value starts = builder.Stored(AsType(builder, offsets, DType::kInt64));
  const Value places = builder.Stored(ProgramBuilder::Positions({{1}, 0}, {count}));
  const Routine search{.kind = Routine::Kind::kSearch,
                       .operands = {starts.expr->load.buffer, places.expr->load.buffer},
                       .length = Elements(starts.shape),
                       .kept = count,
                       .after = true};
  const Value behind = builder.WithRoutine(search, DType::kInt64, {count});
  return builder.Pointwise({behind}, ExprType::kInt, DType::kInt64, [](const Args& a) {
    return Make(ExprOp::kSubtract, {a[0], Constant(1, ExprType::kInt)});
  });
}

// Columns of windows are added where the windows were (col2im): into an image with its border,
// which is then cut off. Arguments: output size, kernel, dilation, padding, stride.
Values LowerFold(ProgramBuilder& builder, const NodeView& node) {
  const Value columns = node.Tensor(0);
  const std::vector<std::int64_t> size = node.Ints(1, "output_size");
  const std::vector<std::int64_t> kernel = node.Ints(2, "kernel_size", 2, 1);
  const std::vector<std::int64_t> dilation = node.Ints(3, "dilation", 2, 1);
  const std::vector<std::int64_t> padding = node.Ints(4, "padding", 2, 0);
  const std::vector<std::int64_t> stride = node.Ints(5, "stride", 2, 1);
  const std::int64_t images = Elements(node.shape()) / (size[0] * size[1]);
  Shape windows{images, kernel[0], kernel[1]};
  Shape bordered{images};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t span = dilation[i] * (kernel[i] - 1) + 1;
    windows.push_back((size[i] + 2 * padding[i] - span) / stride[i] + 1);
    bordered.push_back(size[i] + 2 * padding[i]);
  }
  if (Elements(windows) != Elements(columns.shape)) return Unsupported(node, "of odd sizes");
  IndexMap map{windows.size(), std::vector<AffineForm>(3, ZeroForm(windows.size()))};
  map.index[0].factor[0] = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    map.index[1 + i].factor[1 + i] = dilation[i];
    map.index[1 + i].factor[3 + i] = stride[i];
  }
  const Value image =
      Written(builder, ProgramBuilder::Filled(0, node.dtype(), bordered),
              {builder.Reshaped(columns, windows), {{}, std::move(map)}, Fold::kSum, true});
  IndexMap inside = IdentityMap(3);
  for (std::size_t i = 0; i < 2; ++i) inside.index[1 + i].offset = padding[i];
  const Value cut = builder.Mapped(image, inside, {images, size[0], size[1]});
  return std::vector{builder.Reshaped(cut, node.shape())};
}

// Divides the sums of bags by the numbers of their elements, of which an empty bag has one.
Value MeansOfBags(ProgramBuilder& builder, const Value& sums, const Value& bags) {
  const Shape each{sums.shape[0], 1};
  const Value count = Written(builder, ProgramBuilder::Filled(0, DType::kFloat32, {each[0]}),
                              {ProgramBuilder::Filled(1, DType::kFloat32, bags.shape),
                               Indexed(builder, {each[0]}, {{0, bags}}, bags.shape), Fold::kSum});
  return PerTerm(builder, sums, builder.Reshaped(count, each));
}

// Sums, means or maxima of bags of rows. `offsets` says where each bag of the list begins. Of the
// four results only the first is computed.
Values LowerEmbeddingBag(ProgramBuilder& builder, const NodeView& node) {
  enum Mode : std::int64_t { kSum, kMean, kMax };
  const Value weight = node.Tensor(0);
  const Value list = node.Tensor(1);
  const std::int64_t mode = node.Int(4, "mode", kSum);
  if (node.Int(8, "padding_idx", -1) >= 0) return Unsupported(node, "with padding");
  const Shape rows{Elements(list.shape), weight.shape[1]};
  Value values = Taken(builder, weight, Indexed(builder, weight.shape, {{0, list}}, rows), rows);
  if (node.Has(6, "per_sample_weights")) {
    const Value factors = builder.Reshaped(node.Tensor(6), {rows[0], 1});
    values = builder.Pointwise({values, factors}, ComputeType(values.dtype), values.dtype,
                               [](const Args& a) { return Make(ExprOp::kMultiply, a); });
  }
  const Value bags = BagsOf(builder, node.Tensor(2), rows[0]);
  const Shape result = node.shape();
  Writes writes{values, Indexed(builder, result, {{0, bags}}, rows), Fold::kSum};
  const Value nothing = ProgramBuilder::Filled(0, node.dtype(), result);
  if (mode == kMean)
    return std::vector{MeansOfBags(builder, Written(builder, nothing, writes), bags)};
  if (mode == kMax) {
    writes.combine = Fold::kMax;
    return std::vector{Renewed(builder, nothing, writes)};
  }
  return std::vector{Written(builder, nothing, writes)};
}

}  // namespace

const LowerTable& ScatterOperators() {
  static const LowerTable kTable{{"scatter", LowerScatter},
                                 {"scatter_add", LowerScatterAdd},
                                 {"scatter_reduce", LowerScatterReduce},
                                 {"index_reduce", LowerIndexReduce},
                                 {"masked_scatter", LowerMaskedScatter},
                                 {"max_pool2d_with_indices_backward", LowerMaxPoolBackward},
                                 {"col2im", LowerFold},
                                 {"_embedding_bag", LowerEmbeddingBag},
                                 {"_embedding_bag_forward_only", LowerEmbeddingBag},
                                 {"index_put", LowerIndexPut},
                                 {"_unsafe_index_put", LowerIndexPut}};
  return kTable;
}

}  // namespace pragma::expert
