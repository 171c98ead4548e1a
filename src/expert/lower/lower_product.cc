// Products summed over shared dimensions: matrices, convolutions, attention.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/ir/structure.h"
#include "expert/lower/folds.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;
using Args = std::vector<ExprPtr>;

Value AsLoad(ProgramBuilder& builder, const Value& value) {
  const Value settled = builder.Settled(value);
  return IsPlainLoad(*settled.expr) ? settled : builder.StoredAsRead(settled);
}

Value Multiplied(ProgramBuilder& builder, const Value& a, const Value& b, DType dtype) {
  return builder.Pointwise({a, b}, ComputeType(dtype), dtype,
                           [](const Args& args) { return Make(ExprOp::kMultiply, args); });
}

// Returns the diagonal of a square matrix that is zero elsewhere, along its rows or along its
// columns.
std::optional<Value> DiagonalOf(ProgramBuilder& builder, const Value& matrix, bool along_rows) {
  const std::size_t rank = matrix.shape.size();
  const std::int64_t size = matrix.shape[rank - 1];
  if (matrix.dims != matrix.shape || matrix.shape[rank - 2] != size) return std::nullopt;
  const ExprPtr diagonal = OnDiagonal(matrix.expr, rank - 2, rank - 1);
  if (!diagonal) return std::nullopt;
  IndexMap map = IdentityMap(rank);
  map.index[along_rows ? rank - 1 : rank - 2] = map.index[along_rows ? rank - 2 : rank - 1];
  Shape shape = matrix.shape;
  shape[along_rows ? rank - 1 : rank - 2] = 1;
  return builder.Mapped({diagonal, matrix.shape, matrix.shape, matrix.dtype}, map, shape);
}

// Multiplies left [batch..., m, k] by right [batch..., k, n]. The batches broadcast.
Value Product(ProgramBuilder& builder, const Value& left, const Value& right, DType dtype) {
  // With a diagonal factor all but one term of each sum are zero by construction, so rows or
  // columns are only scaled.
  if (const auto diagonal = DiagonalOf(builder, left, true))
    return Multiplied(builder, *diagonal, right, dtype);
  if (const auto diagonal = DiagonalOf(builder, right, false))
    return Multiplied(builder, left, *diagonal, dtype);
  const std::size_t lr = left.shape.size();
  const std::size_t rr = right.shape.size();
  const Shape left_batch(left.shape.begin(), left.shape.end() - 2);
  const Shape right_batch(right.shape.begin(), right.shape.end() - 2);
  Shape shape = BroadcastShapes(left_batch, right_batch).value_or(left_batch);
  const std::size_t batch = shape.size();
  const std::int64_t m = left.shape[lr - 2];
  const std::int64_t k = left.shape[lr - 1];
  const std::int64_t n = right.shape[rr - 1];
  shape.insert(shape.end(), {m, n, k});
  // Expresses each operand's dimensions in terms of [batch..., m, n, k].
  const auto wide = [&](const Value& operand, std::size_t row, std::size_t column) {
    IndexMap map =
        BroadcastMap(Shape(operand.shape.begin(), operand.shape.end() - 2),
                     Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(batch)));
    map.rank = shape.size();
    for (AffineForm& form : map.index) form.factor.resize(map.rank, 0);
    for (const std::size_t place : {row, column}) {
      map.index.push_back(ZeroForm(map.rank));
      map.index.back().factor[batch + place] = 1;
    }
    return builder.Mapped(operand, map, shape);
  };
  // The generators of C++ support one stride from matrix to matrix. An operand with several strides
  // is copied first.
  const auto even = [&](const Value& operand, std::size_t row, std::size_t column) {
    const Value load = AsLoad(builder, operand);
    const Value seen = wide(load, row, column);
    if (!builder.policy().one_batch) return seen;
    Shape merged(shape.end() - 3, shape.end());
    merged.insert(merged.begin(), Elements(shape) / Elements(merged));
    if (Reshape(seen.expr->load.address, shape, merged)) return seen;
    return wide(builder.Stored(load), row, column);
  };
  const Value a = even(left, 0, 2);
  const Value b = even(right, 2, 1);
  const Value product = Multiplied(builder, a, b, dtype);
  std::vector<bool> folded(shape.size(), false);
  folded.back() = true;
  const Value sum = builder.Folded(product, {.folded = folded, .dtype = dtype});
  builder.last().product =
      ProductHint{a.expr, b.expr, nullptr, NonzeroOf(left.expr, lr - 2, lr - 1),
                  NonzeroOf(right.expr, rr - 2, rr - 1)};
  return sum;
}

// Multiplies as torch.matmul does. Vectors are treated as matrices during the product. Many rows
// multiplied by one matrix are one product.
Value MatrixProduct(ProgramBuilder& builder, Value left, Value right, const NodeView& node) {
  const bool row = left.shape.size() == 1;
  const bool column = right.shape.size() == 1;
  if (row) left = builder.Reshaped(left, {1, left.shape[0]});
  if (column) right = builder.Reshaped(right, {right.shape[0], 1});
  if (right.shape.size() == 2 && left.shape.size() > 2) {
    // What has to be stored is stored before its shape changes: products that share it find it
    // then.
    const std::int64_t k = left.shape.back();
    const Value load = AsLoad(builder, builder.Settled(left));
    left = builder.Settled(builder.Reshaped(load, {Elements(left.shape) / k, k}));
  }
  const Value product =
      Product(builder, builder.Settled(left), builder.Settled(right), node.dtype());
  return builder.Settled(builder.Reshaped(product, node.shape()));
}

Values LowerMatmul(ProgramBuilder& builder, const NodeView& node) {
  return std::vector{MatrixProduct(builder, node.Tensor(0), node.Tensor(1), node)};
}

Value Added(ProgramBuilder& builder, const Value& a, const Value& b) {
  return builder.Pointwise({a, b}, ComputeType(a.dtype), a.dtype,
                           [](const Args& args) { return Make(ExprOp::kAdd, args); });
}

Values LowerLinear(ProgramBuilder& builder, const NodeView& node) {
  const Value weight = Transposed(builder, node.Tensor(1));
  const Value product = MatrixProduct(builder, node.Tensor(0), weight, node);
  if (!node.IsTensor(2)) return std::vector{product};
  return std::vector{Added(builder, product, node.Tensor(2))};
}

// Computes beta * input + alpha * a @ b.
Values LowerAddmm(ProgramBuilder& builder, const NodeView& node) {
  const bool empty = Elements(node.Tensor(1).shape) == 0;
  const Value product = empty ? ProgramBuilder::Filled(0, node.dtype(), node.shape())
                              : MatrixProduct(builder, node.Tensor(1), node.Tensor(2), node);
  const double beta = node.Real(3, "beta", 1);
  const double alpha = node.Real(4, "alpha", 1);
  const Value scaled = alpha == 1 ? product : Times(builder, product, alpha);
  if (beta == 0) return std::vector{scaled};
  const Value input = beta == 1 ? node.Tensor(0) : Times(builder, node.Tensor(0), beta);
  return std::vector{Added(builder, scaled, input)};
}

Value Masked(ProgramBuilder& builder, const Value& scores, const std::optional<Value>& mask,
             const NodeView& node) {
  Value masked = scores;
  if (mask) {
    const bool flags = mask->dtype == DType::kBool;
    masked = builder.Pointwise({scores, *mask}, std::nullopt, scores.dtype, [&](const Args& a) {
      if (flags) return Select(a[1], a[0], Constant(-INFINITY, a[0]->type));
      return Make(ExprOp::kAdd, {a[0], Cast(a[1], a[0]->type)});
    });
  }
  if (!node.Flag(5, "is_causal", false)) return masked;
  masked = builder.Settled(masked);
  AffineForm distance = ZeroForm(masked.dims.size());
  distance.factor[masked.dims.size() - 1] = 1;
  distance.factor[masked.dims.size() - 2] = -1;
  const ExprPtr seen = Make(ExprOp::kLessEqual, {IndexOf(distance), Constant(0, ExprType::kInt)});
  masked.expr = Select(seen, masked.expr, Constant(-INFINITY, masked.expr->type));
  return masked;
}

// Returns the softmax of each row. A row whose scores are all -infinity gives zeros.
Value AttentionWeights(ProgramBuilder& builder, const Value& scores) {
  std::vector<bool> folded(scores.shape.size(), false);
  folded.back() = true;
  const ExprType type = ComputeType(scores.dtype);
  const Value largest = builder.Folded(
      scores, {.fold = Fold::kMax, .folded = folded, .keep = true, .dtype = scores.dtype});
  const auto zero_where = [type](const ExprPtr& value, double number, const ExprPtr& otherwise) {
    const ExprPtr same = Make(ExprOp::kEqual, {value, Constant(number, type)});
    return Select(same, Constant(0, type), otherwise);
  };
  const Value powers =
      builder.Stored(builder.Pointwise({scores, largest}, type, scores.dtype, [&](const Args& a) {
        const ExprPtr base = zero_where(a[1], -INFINITY, a[1]);
        return Make(ExprOp::kExpNegative, {Make(ExprOp::kSubtract, {a[0], base})});
      }));
  const Value sum = builder.Folded(powers, {.folded = folded, .keep = true, .dtype = scores.dtype});
  return builder.Pointwise({powers, sum}, type, scores.dtype, [&](const Args& a) {
    return zero_where(a[1], 0, Make(ExprOp::kDivide, a));
  });
}

// Queries, keys and values, with the groups of queries that share a key as a dimension of their
// own.
struct Heads {
  Value query;
  Value key;
  Value value;
  std::optional<Value> mask;
};

// Splits the heads of the queries [..., heads, rows, depth] into [..., heads of the keys, group,
// rows, depth]. Keys and values become [..., heads, 1, keys, depth], which broadcasts. A mask with
// heads of its own is split like the queries.
Heads Grouped(ProgramBuilder& builder, const Heads& heads) {
  const Shape& keys = heads.key.shape;
  const std::size_t place = keys.size() - 3;
  const auto split = [&](const Value& value, std::int64_t outer, std::int64_t group) {
    Shape shape = value.shape;
    const std::size_t head = shape.size() - 3;
    shape[head] = outer;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(head) + 1, group);
    return builder.Settled(builder.Reshaped(value, shape));
  };
  const std::int64_t group = heads.query.shape[place] / keys[place];
  Heads grouped{split(heads.query, keys[place], group), split(heads.key, keys[place], 1),
                split(heads.value, keys[place], 1), heads.mask};
  if (heads.mask && heads.mask->shape.size() > 2) {
    const bool same = heads.mask->shape[heads.mask->shape.size() - 3] == 1;  // for all heads
    grouped.mask = split(*heads.mask, same ? 1 : keys[place], same ? 1 : group);
  }
  return grouped;
}

// Returns how many heads in a row are the same in keys or values of [..., heads, keys, depth] that
// were expanded from fewer heads and reshaped since.
std::int64_t RepeatsOf(const Value& value) {
  const std::size_t rank = value.shape.size();
  if (value.dims.size() != rank + 1 || rank < 3) return 1;
  const std::size_t group = rank - 2;  // of `dims`
  Shape merged = value.dims;
  merged[group - 1] *= merged[group];
  merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(group));
  return merged == value.shape && !DependsOn(value.expr, group) ? value.dims[group] : 1;
}

// Returns keys or values with one of each `repeats` heads. They must be as RepeatsOf says.
Value WithoutRepeats(ProgramBuilder& builder, const Value& value, std::int64_t repeats) {
  const std::size_t group = value.shape.size() - 2;
  Shape once = value.dims;
  once[group] = 1;
  const Value apart{value.expr, value.dims, value.dims, value.dtype};
  IndexMap first = IdentityMap(once.size());
  first.index[group] = ZeroForm(once.size());
  Shape heads = value.shape;
  heads[group - 1] /= repeats;
  return builder.Reshaped(builder.Mapped(apart, first, once), heads);
}

// Returns keys or values with each head `repeats` times in a row.
Value WithRepeats(ProgramBuilder& builder, const Value& value, std::int64_t repeats) {
  const auto group = static_cast<std::ptrdiff_t>(value.shape.size()) - 2;
  Shape apart = value.shape;
  apart.insert(apart.begin() + group, 1);
  Shape wide = apart;
  wide[static_cast<std::size_t>(group)] = repeats;
  Shape heads = value.shape;
  heads[static_cast<std::size_t>(group) - 1] *= repeats;
  const Value once = builder.Settled(builder.Reshaped(value, apart));
  return builder.Settled(builder.Reshaped(builder.Expanded(once, wide), heads));
}

// Returns whether heads that share their keys are computed together. The generator of C++ takes one
// head after the other if it has some rows; copies of the keys are little beside its scores.
bool TakesGroups(const ProgramBuilder& builder, const Shape& query) {
  constexpr std::int64_t kSomeRows = 4;
  return !builder.policy().one_batch || query[query.size() - 2] < kSomeRows;
}

Values LowerAttention(ProgramBuilder& builder, const NodeView& node) {
  if (node.Real(4, "dropout_p", 0) != 0) return Unsupported(node, "with dropout");
  Value key = node.Tensor(1);
  Value value = node.Tensor(2);
  const Shape query = node.Tensor(0).shape;
  const std::size_t rank = query.size();
  const bool groups = TakesGroups(builder, query);
  const std::int64_t repeats = groups && key.shape.size() == rank ? RepeatsOf(key) : 1;
  const bool repeated = repeats > 1 && RepeatsOf(value) == repeats;
  if (repeated) {
    key = WithoutRepeats(builder, key, repeats);
    value = WithoutRepeats(builder, value, repeats);
  }
  Heads heads{builder.Settled(node.Tensor(0)), builder.Settled(key), builder.Settled(value),
              std::nullopt};
  if (node.IsTensor(3)) heads.mask = node.Tensor(3);
  const bool asked = rank > 2 && (repeated || node.Flag(7, "enable_gqa", false));
  if (asked && heads.key.shape.size() != rank)
    return Unsupported(node, "with grouped queries and keys of another rank");
  const bool grouped = asked && heads.key.shape[rank - 3] != heads.query.shape[rank - 3];
  if (grouped && groups) {
    heads = Grouped(builder, heads);
  } else if (grouped) {
    const std::int64_t shared = query[rank - 3] / heads.key.shape[rank - 3];
    heads.key = WithRepeats(builder, heads.key, shared);
    heads.value = WithRepeats(builder, heads.value, shared);
  }
  const double width = static_cast<double>(heads.query.shape.back());
  const double scale = node.Real(6, "scale", 1 / std::sqrt(width));
  // Scores and weights are never rounded to 16 bits, as in Torch's own kernels.
  const Value keys = Transposed(builder, heads.key);
  const Value scores =
      Times(builder, Product(builder, heads.query, keys, SumType(heads.query.dtype)), scale);
  const Value masked = builder.Stored(Masked(builder, scores, heads.mask, node));
  const Value result = Product(builder, builder.Stored(AttentionWeights(builder, masked)),
                               heads.value, node.dtype());
  return std::vector{builder.Reshaped(result, node.shape())};
}

}  // namespace

Value Transposed(ProgramBuilder& builder, const Value& matrix) {
  const Value settled = builder.Settled(matrix);
  std::vector<std::int64_t> order(settled.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  Shape shape = settled.shape;
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return builder.Mapped(settled, PermuteMap(order), shape);
}

Value TimesTransposed(ProgramBuilder& builder, const Value& left, const Value& right) {
  return Product(builder, builder.Settled(left), Transposed(builder, right), left.dtype);
}

[[nodiscard]] Result<std::vector<Value>> LowerConvolution(ProgramBuilder& builder,
                                                          const NodeView& node);

const LowerTable& ProductOperators() {
  static const LowerTable kTable{{"mm", LowerMatmul},
                                 {"bmm", LowerMatmul},
                                 {"matmul", LowerMatmul},
                                 {"mv", LowerMatmul},
                                 {"dot", LowerMatmul},
                                 {"linear", LowerLinear},
                                 {"addmm", LowerAddmm},
                                 {"baddbmm", LowerAddmm},
                                 {"scaled_dot_product_attention", LowerAttention},
                                 {"convolution", LowerConvolution}};
  return kTable;
}

}  // namespace pragma::expert
