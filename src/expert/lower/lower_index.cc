// Operators that read at places that depend on data: gather, embedding, indexing.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/lower/lowering.h"
#include "expert/lower/places.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;

bool HasIndex(const ExprPtr& expr) {
  if (expr->op == ExprOp::kIndex) return true;
  for (const ExprPtr& arg : expr->args)
    if (HasIndex(arg)) return true;
  return false;
}

// Returns the value as loads whose addresses may be shifted by a data-dependent number.
Value Movable(ProgramBuilder& builder, const Value& value) {
  const Value settled = builder.Settled(value);
  bool plain = !HasIndex(settled.expr);
  VisitLoads(settled.expr,
             [&](const Load& load, ExprType) { plain = plain && load.bounds.empty(); });
  return plain ? settled : builder.Stored(settled);
}

Values LowerGather(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::size_t dimension = node.Dimension(1, "dim", x.shape.size());
  if (x.shape.empty()) return std::vector{builder.Expanded(x, node.shape())};
  return std::vector{Taken(builder, x, AlongDimension(x, dimension, node.Tensor(2)), node.shape())};
}

// The dimensions of the index replace `dimension`.
Value Selected(ProgramBuilder& builder, const Value& x, std::size_t dimension, const Value& index,
               const Shape& shape) {
  return Taken(builder, x, Indexed(builder, x.shape, {{dimension, index}}, shape), shape);
}

Values LowerIndexSelect(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  if (x.shape.empty()) return std::vector{builder.Expanded(x, node.shape())};
  return std::vector{
      Selected(builder, x, node.Dimension(1, "dim", x.shape.size()), node.Tensor(2), node.shape())};
}

Values LowerEmbedding(ProgramBuilder& builder, const NodeView& node) {
  return std::vector{Selected(builder, node.Tensor(0), 0, node.Tensor(1), node.shape())};
}

Values LowerIndex(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  std::vector<Place> places = TRY(IndicesOf(node));
  if (places.empty()) return std::vector{x};
  return std::vector{
      Taken(builder, x, Indexed(builder, x.shape, std::move(places), node.shape()), node.shape())};
}

}  // namespace

ExprPtr LoadAt(ProgramBuilder& builder, const Expr& load, const Shape& shape,
               const Addressing& at) {
  auto moved = std::make_shared<Expr>(load);
  moved->load.address = Apply(load.load.address, at.map);
  for (const Place& place : at.places) {
    const std::int64_t stride = load.load.address.factor[place.dimension];
    if (stride == 0) continue;
    const ExprPtr raw = Cast(builder.Settled(place.index).expr, ExprType::kInt);
    if (!place.from_end) {
      moved->load.indirect.push_back({raw, stride});
      continue;
    }
    const ExprPtr size = Constant(static_cast<double>(shape[place.dimension]), ExprType::kInt);
    const ExprPtr negative = Make(ExprOp::kLess, {raw, Constant(0, ExprType::kInt)});
    moved->load.indirect.push_back(
        {Select(negative, Make(ExprOp::kAdd, {raw, size}), raw), stride});
  }
  return moved;
}

Value Taken(ProgramBuilder& builder, const Value& given, const Addressing& at, const Shape& shape) {
  const Value x = Movable(builder, given);
  ExprPtr expr = WithLoads(
      x.expr, [&](const Expr& load) -> ExprPtr { return LoadAt(builder, load, x.shape, at); });
  return {std::move(expr), shape, shape, given.dtype};
}

Addressing AlongDimension(const Value& x, std::size_t dimension, const Value& index) {
  IndexMap map = IdentityMap(x.shape.size());
  map.index[dimension].factor[dimension] = 0;
  return {{{dimension, index}}, std::move(map)};
}

Addressing Indexed(ProgramBuilder& builder, const Shape& x, std::vector<Place> places,
                   const Shape& shape) {
  const std::size_t width = shape.size() + places.size() - x.size();
  const bool together = places.back().dimension - places.front().dimension + 1 == places.size();
  const std::size_t first = together ? places.front().dimension : 0;
  std::vector<bool> indexed(x.size(), false);
  for (const Place& place : places) indexed[place.dimension] = true;
  IndexMap map{shape.size(), {}};
  std::size_t next = first == 0 ? width : 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    map.index.push_back(ZeroForm(map.rank));
    if (indexed[i]) continue;
    map.index.back().factor[next++] = 1;
    if (next == first) next += width;
  }
  for (Place& place : places) {
    const std::size_t rank = place.index.shape.size();
    IndexMap over{shape.size(), {}};
    for (std::size_t i = 0; i < rank; ++i) {
      over.index.push_back(ZeroForm(over.rank));
      if (place.index.shape[i] != 1) over.index.back().factor[first + width - rank + i] = 1;
    }
    place.index = builder.Mapped(place.index, over, shape);
  }
  return {std::move(places), std::move(map)};
}

Shape IndexedShape(const Shape& x, const std::vector<Place>& places) {
  Shape indices;
  std::vector<bool> indexed(x.size(), false);
  for (const Place& place : places) {
    indexed[place.dimension] = true;
    indices = BroadcastShapes(indices, place.index.shape).value_or(indices);
  }
  const bool together = places.back().dimension - places.front().dimension + 1 == places.size();
  const std::size_t first = together ? places.front().dimension : 0;
  Shape shape;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!indexed[i]) shape.push_back(x[i]);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(first), indices.begin(), indices.end());
  return shape;
}

Result<std::vector<Place>> IndicesOf(const NodeView& node) {
  const std::vector<ScalarValue>& items = node.node().args[1].items;
  const std::vector<Value> indices = node.Tensors(1);
  std::vector<Place> places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].kind == ScalarValue::Kind::kNone) continue;
    places.push_back({i, indices[places.size()]});
    if (places.back().index.dtype == DType::kBool) return Unsupported(node, "by a mask");
  }
  return places;
}

const LowerTable& IndexOperators() {
  static const LowerTable kTable{{"gather", LowerGather},
                                 {"embedding", LowerEmbedding},
                                 {"index_select", LowerIndexSelect},
                                 {"index", LowerIndex},
                                 {"_unsafe_index", LowerIndex}};
  return kTable;
}

}  // namespace pragma::expert
