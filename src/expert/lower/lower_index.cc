// Operators whose addresses depend on data: gather, embedding, indexing.
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

// `map` states where all dimensions except `dimension` come from. The position along `dimension`
// comes from `index`, which is over `shape`. Negative values count from the end.
Value Taken(ProgramBuilder& builder, const Value& given, std::size_t dimension, const Value& index,
            const IndexMap& map, const Shape& shape) {
  const Value x = Movable(builder, given);
  const ExprPtr raw = Cast(builder.Settled(index).expr, ExprType::kInt);
  const ExprPtr size = Constant(static_cast<double>(x.shape[dimension]), ExprType::kInt);
  const ExprPtr negative = Make(ExprOp::kLess, {raw, Constant(0, ExprType::kInt)});
  const ExprPtr place = Select(negative, Make(ExprOp::kAdd, {raw, size}), raw);
  ExprPtr expr = WithLoads(x.expr, [&](const Expr& load) -> ExprPtr {
    auto moved = std::make_shared<Expr>(load);
    const std::int64_t stride = load.load.address.factor[dimension];
    moved->load.address = Apply(load.load.address, map);
    if (stride != 0) moved->load.indirect.push_back({place, stride});
    return moved;
  });
  return {std::move(expr), shape, shape, given.dtype};
}

Values LowerGather(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  const std::size_t dimension = node.Dimension(1, "dim", x.shape.size());
  IndexMap map = IdentityMap(x.shape.size());
  map.index[dimension].factor[dimension] = 0;
  return std::vector{Taken(builder, x, dimension, node.Tensor(2), map, node.shape())};
}

// The dimensions of the index replace `dimension`.
Value Selected(ProgramBuilder& builder, const Value& x, std::size_t dimension, const Value& index,
               const Shape& shape) {
  const std::size_t width = index.shape.size();
  IndexMap map{shape.size(), {}};
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    map.index.push_back(ZeroForm(map.rank));
    if (i != dimension) map.index.back().factor[i < dimension ? i : i - 1 + width] = 1;
  }
  IndexMap over{shape.size(), {}};
  for (std::size_t i = 0; i < width; ++i) {
    over.index.push_back(ZeroForm(over.rank));
    over.index.back().factor[dimension + i] = 1;
  }
  return Taken(builder, x, dimension, builder.Mapped(index, over, shape), map, shape);
}

Values LowerIndexSelect(ProgramBuilder& builder, const NodeView& node) {
  const Value x = node.Tensor(0);
  return std::vector{
      Selected(builder, x, node.Dimension(1, "dim", x.shape.size()), node.Tensor(2), node.shape())};
}

Values LowerEmbedding(ProgramBuilder& builder, const NodeView& node) {
  return std::vector{Selected(builder, node.Tensor(0), 0, node.Tensor(1), node.shape())};
}

// Lowers x[:, index], with one integer tensor among the indices.
Values LowerIndex(ProgramBuilder& builder, const NodeView& node) {
  const std::vector<Value> indices = node.Tensors(1);
  if (indices.size() != 1 || indices[0].dtype == DType::kBool)
    return Unsupported(node, "by several tensors, or by a mask");
  std::size_t dimension = 0;
  while (node.node().args[1].items[dimension].kind == ScalarValue::Kind::kNone) ++dimension;
  return std::vector{Selected(builder, node.Tensor(0), dimension, indices[0], node.shape())};
}

}  // namespace

const LowerTable& IndexOperators() {
  static const LowerTable kTable{{"gather", LowerGather},
                                 {"embedding", LowerEmbedding},
                                 {"index_select", LowerIndexSelect},
                                 {"index", LowerIndex}};
  return kTable;
}

}  // namespace pragma::expert
