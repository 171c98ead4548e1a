// Operators that reduce dimensions: sums, extremes, norms, running sums.
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
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
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;
using Args = std::vector<ExprPtr>;

// Returns the reduced dimensions: the ones that are named, or all where none is named.
std::vector<bool> FoldedDims(const NodeView& node, std::size_t rank, std::size_t place) {
  std::vector<bool> folded(rank, false);
  if (rank == 0) return folded;  // torch takes 0 and -1 for a dimension of a single number
  const std::vector<std::int64_t> dims = node.Ints(place, "dim");
  const auto size = static_cast<std::int64_t>(rank);
  for (const std::int64_t dimension : dims)
    folded[static_cast<std::size_t>((dimension + size) % std::max<std::int64_t>(size, 1))] = true;
  if (dims.empty()) folded.assign(rank, true);
  return folded;
}

std::int64_t FoldedElements(const Shape& shape, const std::vector<bool>& folded) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (folded[i]) count *= shape[i];
  return count;
}

Lower Reduction(Fold fold) {
  return [fold](ProgramBuilder& builder, const NodeView& node) -> Values {
    const Value x = AsType(builder, node.Tensor(0), node.dtype());
    if (Elements(x.shape) == 0) {
      Value nothing = ProgramBuilder::Number(0, node.dtype());  // LowerNode passes on sums only
      nothing.dims = nothing.shape = node.shape();
      return std::vector{std::move(nothing)};
    }
    return std::vector{builder.Folded(x, {.fold = fold,
                                          .folded = FoldedDims(node, x.shape.size(), 1),
                                          .keep = node.Flag(2, "keepdim", false),
                                          .dtype = node.dtype()})};
  };
}

Values LowerMean(ProgramBuilder& builder, const NodeView& node) {
  const Value x = AsType(builder, node.Tensor(0), node.dtype());
  if (Elements(x.shape) == 0) return Unsupported(node, "of an empty tensor");
  const Value mean =
      Mean(builder, x, FoldedDims(node, x.shape.size(), 1), node.Flag(2, "keepdim", false));
  return std::vector{AsType(builder, mean, node.dtype())};
}

// Returns the variance and the mean.
std::vector<Value> Spread(ProgramBuilder& builder, const NodeView& node) {
  const Value x = builder.ForReuse(node.Tensor(0));
  const std::vector<bool> folded = FoldedDims(node, x.shape.size(), 1);
  const Value mean = Mean(builder, x, folded, true);
  const double count = static_cast<double>(FoldedElements(x.shape, folded));
  const Value sum = SquaredDistance(
      builder, x, mean,
      {.folded = folded, .keep = node.Flag(3, "keepdim", false), .dtype = SumType(node.dtype())});
  const Value variance = Times(builder, sum, 1 / (count - node.Real(2, "correction", 1)));
  return {AsType(builder, variance, node.dtype()), AsType(builder, mean, node.dtype())};
}

Values LowerVariance(ProgramBuilder& builder, const NodeView& node) {
  return std::vector{Spread(builder, node).front()};
}

Values LowerVarianceAndMean(ProgramBuilder& builder, const NodeView& node) {
  std::vector<Value> spread = Spread(builder, node);
  spread[1] = builder.Reshaped(spread[1], node.shape(1));
  return spread;
}

// Returns the index of an element along the reduced dimensions, in row-major order.
AffineForm Positions(const Shape& shape, const std::vector<bool>& folded) {
  AffineForm form = ZeroForm(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (!folded[i]) continue;
    form.factor[i] = stride;
    stride *= shape[i];
  }
  return form;
}

Value Position(ProgramBuilder& builder, const Value& x, Fold fold, const std::vector<bool>& folded,
               bool keep) {
  return builder.Folded(x, {.fold = fold,
                            .folded = folded,
                            .keep = keep,
                            .position = Positions(x.shape, folded),
                            .dtype = DType::kInt64});
}

Lower ArgReduction(Fold fold) {
  return [fold](ProgramBuilder& builder, const NodeView& node) -> Values {
    const Value x = builder.Settled(node.Tensor(0));
    return std::vector{Position(builder, x, fold, FoldedDims(node, x.shape.size(), 1),
                                node.Flag(2, "keepdim", false))};
  };
}

// max and min: of all elements, of two tensors, or along a dimension together with the index.
Lower Extreme(Fold fold, Fold position) {
  return [=](ProgramBuilder& builder, const NodeView& node) -> Values {
    const Value x = builder.Settled(node.Tensor(0));
    if (node.overload() == "other") {
      const ExprOp op = fold == Fold::kMax ? ExprOp::kMax : ExprOp::kMin;
      return std::vector{builder.Pointwise({x, node.Tensor(1)}, ComputeType(node.dtype()),
                                           node.dtype(),
                                           [op](const Args& args) { return Make(op, args); })};
    }
    const std::vector<bool> folded = FoldedDims(node, x.shape.size(), 1);
    const bool keep = node.Flag(2, "keepdim", false);
    std::vector<Value> results{
        builder.Folded(x, {.fold = fold, .folded = folded, .keep = keep, .dtype = node.dtype()})};
    if (node.overload() == "dim") results.push_back(Position(builder, x, position, folded, keep));
    return results;
  };
}

// What counts for a norm of order 0: 1 for whatever is not 0.
ExprPtr Counted(const ExprPtr& x) {
  const ExprType type = x->type;
  return Select(Make(ExprOp::kNotEqual, {x, Constant(0, type)}), Constant(1, type),
                Constant(0, type));
}

Values LowerVectorNorm(ProgramBuilder& builder, const NodeView& node) {
  const Value x = AsType(builder, node.Tensor(0), node.dtype());
  const double order = node.Real(1, "ord", 2);
  const std::vector<bool> folded = FoldedDims(node, x.shape.size(), 2);
  ProgramBuilder::FoldPlan plan{
      .folded = folded, .keep = node.Flag(3, "keepdim", false), .dtype = SumType(node.dtype())};
  const auto each = [&](const ProgramBuilder::Combine& combine) {
    return builder.Pointwise({x}, ComputeType(node.dtype()), node.dtype(), combine);
  };
  const auto magnitude = [](const Args& a) { return Make(ExprOp::kAbs, {a[0]}); };
  if (order == 2) {
    const Value sum = builder.Folded(
        each([](const Args& a) { return Make(ExprOp::kMultiply, {a[0], a[0]}); }), plan);
    return std::vector{
        builder.Pointwise({sum}, ComputeType(node.dtype()), node.dtype(),
                          [](const Args& a) { return Make(ExprOp::kSquareRoot, {a[0]}); })};
  }
  if (order == INFINITY) plan.fold = Fold::kMax;
  if (order == -INFINITY) plan.fold = Fold::kMin;
  if (order == 0)
    return std::vector{
        AsType(builder, builder.Folded(each([](const Args& a) { return Counted(a[0]); }), plan),
               node.dtype())};
  if (order == 1 || std::isinf(order))
    return std::vector{AsType(builder, builder.Folded(each(magnitude), plan), node.dtype())};
  const auto power = [](double exponent) {
    return [exponent](const Args& a) {
      return Make(ExprOp::kPower, {Make(ExprOp::kAbs, {a[0]}), Constant(exponent, a[0]->type)});
    };
  };
  const Value sum = builder.Folded(each(power(order)), plan);
  return std::vector{
      builder.Pointwise({sum}, ComputeType(node.dtype()), node.dtype(), power(1 / order))};
}

// any and all, computed as extremes.
Lower Logical(Fold fold) {
  return [fold](ProgramBuilder& builder, const NodeView& node) -> Values {
    const Value x = AsType(builder, node.Tensor(0), DType::kBool);
    return std::vector{builder.Folded(x, {.fold = fold,
                                          .folded = FoldedDims(node, x.shape.size(), 1),
                                          .keep = node.Flag(2, "keepdim", false),
                                          .dtype = DType::kBool})};
  };
}

Lower Running(Fold fold) {
  return [fold](ProgramBuilder& builder, const NodeView& node) -> Values {
    const Value x = AsType(builder, node.Tensor(0), node.dtype());
    if (x.shape.empty()) return std::vector{x};
    return std::vector{
        builder.Scanned(x, fold, node.Dimension(1, "dim", x.shape.size()), node.dtype())};
  };
}

Values LowerLogSumExp(ProgramBuilder& builder, const NodeView& node) {
  const Value x = builder.ForReuse(node.Tensor(0));
  const std::vector<bool> folded = FoldedDims(node, x.shape.size(), 1);
  const Shifted shifted = ShiftedExponentials(builder, x, folded, Keep::kNothing);
  const Value sum = builder.Pointwise(
      {shifted.sum, shifted.largest}, ComputeType(x.dtype), x.dtype,
      [](const Args& a) { return Make(ExprOp::kAdd, {Make(ExprOp::kLog, {a[0]}), a[1]}); });
  return std::vector{builder.Reshaped(sum, node.shape())};
}

// Distances between all pairs of rows: [..., P, M] and [..., R, M] to [..., P, R].
Values LowerDistances(ProgramBuilder& builder, const NodeView& node) {
  const double order = node.Real(2, "p", 2);
  Shape left = node.Tensor(0).shape;
  Shape right = node.Tensor(1).shape;
  left.insert(left.end() - 1, 1);
  right.insert(right.end() - 2, 1);
  const Value a = builder.Reshaped(builder.Stored(node.Tensor(0)), left);
  const Value b = builder.Reshaped(builder.Stored(node.Tensor(1)), right);
  const Value apart =
      builder.Pointwise({a, b}, ComputeType(node.dtype()), node.dtype(), [order](const Args& args) {
        const ExprPtr by = Make(ExprOp::kAbs, {Make(ExprOp::kSubtract, {args[0], args[1]})});
        if (order == 2) return Make(ExprOp::kMultiply, {by, by});
        if (order == 0) return Counted(by);
        if (order == 1 || std::isinf(order)) return by;
        return Make(ExprOp::kPower, {by, Constant(order, by->type)});
      });
  std::vector<bool> folded(apart.shape.size(), false);
  folded.back() = true;
  const Value sum = builder.Folded(apart, {.fold = std::isinf(order) ? Fold::kMax : Fold::kSum,
                                           .folded = folded,
                                           .dtype = SumType(node.dtype())});
  if (order == 0 || order == 1 || std::isinf(order))
    return std::vector{AsType(builder, sum, node.dtype())};
  return std::vector{
      builder.Pointwise({sum}, ComputeType(node.dtype()), node.dtype(), [order](const Args& args) {
        if (order == 2) return Make(ExprOp::kSquareRoot, {args[0]});
        return Make(ExprOp::kPower, {args[0], Constant(1 / order, args[0]->type)});
      })};
}

}  // namespace

DType SumType(DType dtype) {
  return ComputeType(dtype) == ExprType::kFloat ? DType::kFloat32 : dtype;
}

Value AsType(ProgramBuilder& builder, const Value& value, DType dtype) {
  if (value.dtype == dtype) return value;
  return builder.Pointwise({value}, ComputeType(dtype), dtype,
                           [](const Args& args) { return args[0]; });
}

Value Times(ProgramBuilder& builder, const Value& value, double factor) {
  return builder.Pointwise(
      {value}, ComputeType(value.dtype), value.dtype, [factor](const Args& args) {
        return Make(ExprOp::kMultiply, {args[0], Constant(factor, args[0]->type)});
      });
}

Value DividedBy(ProgramBuilder& builder, const Value& value, std::int64_t count) {
  if (std::has_single_bit(static_cast<std::uint64_t>(count)))
    return Times(builder, value, 1 / static_cast<double>(count));
  return builder.Pointwise(
      {value}, ComputeType(value.dtype), value.dtype, [count](const Args& args) {
        const ExprType type = args[0]->type;
        return Make(type == ExprType::kFloat ? ExprOp::kDivideExactly : ExprOp::kDivide,
                    {args[0], Constant(static_cast<double>(count), type)});
      });
}

Value Mean(ProgramBuilder& builder, const Value& value, const std::vector<bool>& folded,
           bool keep) {
  const Value sum =
      builder.Folded(value, {.folded = folded, .keep = keep, .dtype = SumType(value.dtype)});
  return DividedBy(builder, sum, FoldedElements(value.shape, folded));
}

Value SquaredDistance(ProgramBuilder& builder, const Value& value, const Value& mean,
                      const ProgramBuilder::FoldPlan& plan) {
  const Value square =
      builder.Pointwise({value, mean}, ComputeType(value.dtype), value.dtype, [](const Args& args) {
        const ExprPtr distance = Make(ExprOp::kSubtract, {args[0], args[1]});
        return Make(ExprOp::kMultiply, {distance, distance});
      });
  return builder.Folded(square, plan);
}

Shifted ShiftedExponentials(ProgramBuilder& builder, const Value& value,
                            const std::vector<bool>& folded, Keep keep) {
  Shifted shifted;
  shifted.largest = builder.Folded(
      value, {.fold = Fold::kMax, .folded = folded, .keep = true, .dtype = value.dtype});
  shifted.exponential = builder.Pointwise(
      {value, shifted.largest}, ComputeType(value.dtype), value.dtype, [](const Args& args) {
        return Make(ExprOp::kExpNegative, {RoundedDifference(args[0], args[1])});
      });
  if (keep == Keep::kExponentials) shifted.exponential = builder.Stored(shifted.exponential);
  shifted.sum = builder.Folded(shifted.exponential,
                               {.folded = folded, .keep = true, .dtype = SumType(value.dtype)});
  return shifted;
}

const LowerTable& FoldOperators() {
  static const LowerTable kTable{{"sum", Reduction(Fold::kSum)},
                                 {"prod", Reduction(Fold::kProduct)},
                                 {"amax", Reduction(Fold::kMax)},
                                 {"amin", Reduction(Fold::kMin)},
                                 {"mean", LowerMean},
                                 {"var", LowerVariance},
                                 {"var_mean", LowerVarianceAndMean},
                                 {"max", Extreme(Fold::kMax, Fold::kArgMax)},
                                 {"min", Extreme(Fold::kMin, Fold::kArgMin)},
                                 {"argmax", ArgReduction(Fold::kArgMax)},
                                 {"argmin", ArgReduction(Fold::kArgMin)},
                                 {"any", Logical(Fold::kMax)},
                                 {"all", Logical(Fold::kMin)},
                                 {"linalg_vector_norm", LowerVectorNorm},
                                 {"logsumexp", LowerLogSumExp},
                                 {"_cdist_forward", LowerDistances},
                                 {"cumsum", Running(Fold::kSum)},
                                 {"cumprod", Running(Fold::kProduct)}};
  return kTable;
}

}  // namespace pragma::expert
