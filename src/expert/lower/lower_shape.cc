// Operators that only determine where elements are located: views, concatenations, paddings.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/arithmetic.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;

// Largest number of parts among which each element is chosen: the code has a load of each.
constexpr std::size_t kMostSelected = 4;

Values LowerReshape(ProgramBuilder& builder, const NodeView& node) {
  return std::vector{builder.Reshaped(node.Tensor(0), node.shape())};
}

Values LowerPermute(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  std::vector<std::int64_t> order = node.Ints(1, "dims");
  for (std::int64_t& dimension : order) dimension = (dimension + rank) % rank;
  return std::vector{builder.Mapped(x, PermuteMap(order), node.shape())};
}

Values LowerTranspose(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::size_t rank = x.shape.size();
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  if (rank >= 2) {
    const bool t = !node.Has(1, "dim0");
    std::swap(order[t ? 0 : node.Dimension(1, "dim0", rank)],
              order[t ? 1 : node.Dimension(2, "dim1", rank)]);
  }
  return std::vector{builder.Mapped(x, PermuteMap(order), node.shape())};
}

Values LowerExpand(ProgramBuilder& builder, const NodeView& node) {
  return std::vector{builder.Expanded(node.Tensor(0), node.shape())};
}

Values LowerSlice(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::size_t dimension = node.Dimension(1, "dim", x.shape.size());
  const std::int64_t size = x.shape[dimension];
  std::int64_t start = node.Int(2, "start", 0);
  if (start < 0) start += size;
  IndexMap map = IdentityMap(x.shape.size());
  map.index[dimension].factor[dimension] = node.Int(4, "step", 1);
  map.index[dimension].offset = std::clamp<std::int64_t>(start, 0, size);
  return std::vector{builder.Mapped(x, map, node.shape())};
}

Values LowerSelect(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::size_t dimension = node.Dimension(1, "dim", x.shape.size());
  std::int64_t index = node.Int(2, "index", 0);
  if (index < 0) index += x.shape[dimension];
  return std::vector{Picked(builder, x, dimension, index)};
}

Values LowerUnbind(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::size_t dimension = node.Dimension(1, "dim", x.shape.size());
  std::vector<Value> parts;
  for (std::int64_t i = 0; i < x.shape[dimension]; ++i)
    parts.push_back(Picked(builder, x, dimension, i));
  return parts;
}

Values LowerSplit(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::size_t dimension = node.Dimension(2, "dim", x.shape.size());
  std::vector<Value> parts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < node.node().results.size(); ++i) {
    const Shape& shape = node.shape(i);
    IndexMap map = IdentityMap(shape.size());
    map.index[dimension].offset = start;
    parts.push_back(builder.Mapped(x, map, shape));
    start += shape[dimension];
  }
  return parts;
}

Values LowerFlip(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  IndexMap map = IdentityMap(x.shape.size());
  const auto rank = static_cast<std::int64_t>(x.shape.size());
  for (const std::int64_t dimension : node.Ints(1, "dims")) {
    const auto i = static_cast<std::size_t>((dimension + rank) % rank);
    map.index[i].factor[i] = -1;
    map.index[i].offset = x.shape[i] - 1;
  }
  return std::vector{builder.Mapped(x, map, x.shape)};
}

// The diagonal becomes the last dimension.
Values LowerDiagonal(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::size_t rank = x.shape.size();
  const std::int64_t shift = node.Int(1, "offset", 0);
  const std::size_t row = node.Dimension(2, "dim1", rank, 0);
  const std::size_t column = node.Dimension(3, "dim2", rank, 1);
  IndexMap map{rank - 1, {}};
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    map.index.push_back(ZeroForm(map.rank));
    const bool diagonal = i == row || i == column;
    map.index.back().factor[diagonal ? map.rank - 1 : kept++] = 1;
    if (i == row) map.index.back().offset = std::max<std::int64_t>(0, -shift);
    if (i == column) map.index.back().offset = std::max<std::int64_t>(0, shift);
  }
  return std::vector{builder.Mapped(x, map, node.shape())};
}

Values LowerRepeat(ProgramBuilder& builder, const NodeView& node) {
  Value x = node.Tensor(0);
  const std::vector<std::int64_t> times = node.Ints(1, "repeats");
  Shape apart;  // repeats and sizes, alternating
  Shape once;
  const std::size_t lead = times.size() - x.shape.size();
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::int64_t size = i < lead ? 1 : x.shape[i - lead];
    once.insert(once.end(), {1, size});
    apart.insert(apart.end(), {times[i], size});
  }
  x = builder.Expanded(builder.Settled(builder.Reshaped(x, once)), apart);
  return std::vector{builder.Reshaped(x, node.shape())};
}

// Counts the parts from `first` on that are the same elements of one buffer, each as far from the
// one before, as the results of a loop are.
std::size_t SpacedFrom(const std::vector<Value>& parts, std::size_t first) {
  const Value& start = parts[first];
  std::size_t end = first + 1;
  for (std::optional<std::int64_t> apart; end < parts.size(); ++end) {
    const Value& part = parts[end];
    const std::optional<std::int64_t> next = ElementsBetween(parts[end - 1], part);
    const bool alike =
        part.dims == part.shape && part.shape == start.shape && part.dtype == start.dtype;
    if (!next || !alike || *next != apart.value_or(*next)) break;
    apart = next;
  }
  return end - first;
}

// Returns `count` such parts as one value, with a new dimension in front of `dimension`.
Value Together(const std::vector<Value>& parts, std::size_t first, std::size_t count,
               std::size_t dimension) {
  const auto at = static_cast<std::ptrdiff_t>(dimension);
  Expr load = *parts[first].expr;
  load.load.address.factor.insert(
      load.load.address.factor.begin() + at,
      parts[first + 1].expr->load.address.offset - load.load.address.offset);
  Shape shape = parts[first].shape;
  shape.insert(shape.begin() + at, static_cast<std::int64_t>(count));
  return {std::make_shared<Expr>(std::move(load)), shape, shape, parts[first].dtype};
}

// Returns the part over the shape of the whole. Its first element is `start` along the dimension,
// and nothing is loaded for elements outside of it.
ExprPtr InsideOf(ProgramBuilder& builder, const Value& part, const Shape& whole,
                 std::size_t dimension, std::int64_t start) {
  IndexMap map = IdentityMap(whole.size());
  map.index[dimension].offset = -start;
  const Bound bound{map.index[dimension], part.shape[dimension]};
  return WithLoads(builder.Mapped(part, map, whole).expr, [&](const Expr& load) -> ExprPtr {
    auto bounded = std::make_shared<Expr>(load);
    bounded->load.bounds.push_back(bound);
    return bounded;
  });
}

// Returns whether all parts are made of one tensor: a rearrangement, such as the halves of a rotary
// embedding. Parts of several tensors are copied side by side instead, since what reads the whole
// would read each of them again.
bool AreOfOneTensor(const std::vector<Value>& parts) {
  std::set<int> buffers;
  for (const Value& part : parts)
    VisitLoads(part.expr, [&](const Load& load, ExprType) { buffers.insert(load.buffer); });
  return buffers.size() == 1;
}

// Returns the parts side by side as a choice among them for each element.
Value Selected(ProgramBuilder& builder, const NodeView& node, const std::vector<Value>& parts,
               std::size_t dimension) {
  const ExprType type = ComputeType(node.dtype());
  std::int64_t start = node.shape()[dimension];
  AffineForm place = ZeroForm(node.shape().size());
  place.factor[dimension] = 1;
  ExprPtr chosen;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const std::int64_t end = start;
    start -= part->shape[dimension];
    const Value cheap = builder.ForReuse(builder.Settled(*part));
    ExprPtr one = Cast(InsideOf(builder, cheap, node.shape(), dimension, start), type);
    const ExprPtr before =
        Make(ExprOp::kLess, {IndexOf(place), Constant(static_cast<double>(end), ExprType::kInt)});
    chosen = chosen ? Select(before, std::move(one), std::move(chosen)) : std::move(one);
  }
  return {chosen, node.shape(), node.shape(), node.dtype()};
}

Value Concatenated(ProgramBuilder& builder, const NodeView& node, const std::vector<Value>& parts,
                   std::size_t dimension) {
  if (parts.size() > 1 && SpacedFrom(parts, 0) == parts.size() && parts[0].dtype == node.dtype())
    return builder.Reshaped(Together(parts, 0, parts.size(), dimension), node.shape());
  if (builder.policy().selects_parts && parts.size() > 1 && parts.size() <= kMostSelected &&
      AreOfOneTensor(parts))
    return Selected(builder, node, parts, dimension);
  const int buffer = builder.NewBuffer(node.dtype(), node.shape());
  const AffineForm whole = ContiguousForm(node.shape());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < parts.size();) {
    const std::size_t count = SpacedFrom(parts, i);
    AffineForm place = whole;
    place.offset = start * whole.factor[dimension];
    const std::int64_t size = parts[i].shape[dimension];
    Value settled = builder.Settled(parts[i]);
    if (count > 1) {
      settled = Together(parts, i, count, dimension);
      place.factor.insert(place.factor.begin() + static_cast<std::ptrdiff_t>(dimension),
                          size * whole.factor[dimension]);
    }
    builder.StoreInto(
        {Cast(settled.expr, ComputeType(node.dtype())), settled.dims, settled.shape, node.dtype()},
        buffer, place);
    start += size * static_cast<std::int64_t>(count);
    i += count;
  }
  return builder.Whole(buffer);
}

// A concatenation that begins with all of an earlier one, as in a densely connected network, copies
// that one in one piece.
Values LowerCat(ProgramBuilder& builder, const NodeView& node) {
  const std::size_t dimension = node.Dimension(1, "dim", node.shape().size());
  std::vector<Value> parts;
  std::vector<std::string> names;
  const std::vector<Value> given = node.Tensors(0);
  for (std::size_t i = 0; i < given.size(); ++i) {
    // Torch's legacy empty tensor, or one without elements.
    if (given[i].shape.size() != node.shape().size() || Elements(given[i].shape) == 0) continue;
    parts.push_back(given[i]);
    names.push_back(node.Find(0, "tensors")->items[i].text);
  }
  const Concatenation* start = builder.LongestStart(names, dimension);
  if (start != nullptr && start->whole.dtype == node.dtype()) {
    parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(start->tensors.size()));
    parts.insert(parts.begin(), start->whole);
  }
  const Value result = Concatenated(builder, node, parts, dimension);
  if (parts.size() > 1 && result.expr->op == ExprOp::kLoad)
    builder.Keep({std::move(names), dimension, result});
  return std::vector{result};
}

// Windows along one dimension. The position in a window is the last dimension.
Values LowerUnfold(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::size_t rank = x.shape.size();
  if (rank == 0) return Unsupported(node, "of a tensor without dimensions");
  const std::size_t dimension = node.Dimension(1, "dimension", rank);
  IndexMap map = IdentityMap(rank + 1);
  map.index.pop_back();
  map.index[dimension].factor[dimension] = node.Int(3, "step", 1);
  map.index[dimension].factor[rank] = 1;
  return std::vector{builder.Mapped(x, map, node.shape())};
}

// Assertions need no code: what torch.export checked when it traced the module holds for this shape
// and type.
Values LowerAssertion(ProgramBuilder&, const NodeView&) { return std::vector<Value>{}; }

// Padding: elements inside the tensor are loads whose bounds hold, and the others have the pad
// value.
Values LowerPad(ProgramBuilder& builder, const NodeView& node) {
  const std::vector<std::int64_t> pad = node.Ints(1, "pad");
  Value x = builder.Settled(node.Tensor(0));
  if (!IsPlainLoad(*x.expr)) x = builder.Stored(x);
  const std::size_t rank = x.shape.size();
  IndexMap map = IdentityMap(rank);
  std::vector<Bound> bounds;
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    const std::size_t dimension = rank - 1 - i;
    map.index[dimension].offset = -pad[2 * i];
    if (pad[2 * i] > 0 || pad[2 * i + 1] > 0)
      bounds.push_back({map.index[dimension], x.shape[dimension]});
  }
  Value padded = builder.Mapped(x, map, node.shape());
  Expr expr = *padded.expr;
  expr.load.bounds = bounds;
  expr.load.outside = node.Real(2, "value", 0);
  padded.expr = std::make_shared<Expr>(std::move(expr));
  return std::vector{padded};
}

Values LowerStack(ProgramBuilder& builder, const NodeView& node) {
  const std::size_t dimension = node.Dimension(1, "dim", node.shape().size());
  Shape one = node.shape();
  one[dimension] = 1;
  std::vector<Value> parts;
  for (const Value& part : node.Tensors(0))
    parts.push_back(builder.Settled(builder.Reshaped(part, one)));
  return std::vector{Concatenated(builder, node, parts, dimension)};
}

}  // namespace

Value Picked(ProgramBuilder& builder, const Value& x, std::size_t dimension, std::int64_t index) {
  IndexMap map{x.shape.size() - 1, {}};
  Shape shape;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    map.index.push_back(ZeroForm(map.rank));
    if (i == dimension) {
      map.index.back().offset = index;
    } else {
      map.index.back().factor[shape.size()] = 1;
      shape.push_back(x.shape[i]);
    }
  }
  return builder.Mapped(x, map, shape);
}

const LowerTable& ShapeOperators() {
  static const LowerTable kTable{{"view", LowerReshape},
                                 {"reshape", LowerReshape},
                                 {"_unsafe_view", LowerReshape},
                                 {"unsqueeze", LowerReshape},
                                 {"squeeze", LowerReshape},
                                 {"flatten", LowerReshape},
                                 {"view_copy", LowerReshape},
                                 {"permute", LowerPermute},
                                 {"permute_copy", LowerPermute},
                                 {"transpose_copy", LowerTranspose},
                                 {"transpose", LowerTranspose},
                                 {"t", LowerTranspose},
                                 {"expand", LowerExpand},
                                 {"slice", LowerSlice},
                                 {"narrow_copy", LowerSlice},
                                 {"select", LowerSelect},
                                 {"unbind", LowerUnbind},
                                 {"unbind_copy", LowerUnbind},
                                 {"split", LowerSplit},
                                 {"split_with_sizes", LowerSplit},
                                 {"flip", LowerFlip},
                                 {"diagonal", LowerDiagonal},
                                 {"diagonal_copy", LowerDiagonal},
                                 {"repeat", LowerRepeat},
                                 {"cat", LowerCat},
                                 {"stack", LowerStack},
                                 {"constant_pad_nd", LowerPad},
                                 {"unfold", LowerUnfold},
                                 {"_assert_tensor_metadata", LowerAssertion}};
  return kTable;
}

}  // namespace pragma::expert
