// Normalisations and softmax, each as reductions and an expression.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/lower/folds.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;
using Args = std::vector<ExprPtr>;

Values LowerSoftmax(ProgramBuilder& builder, const NodeView& node) {
  const Value x = builder.ForReuse(node.Tensor(0));
  std::vector<bool> folded(x.shape.size(), false);
  if (!folded.empty()) folded[node.Dimension(1, "dim", x.shape.size())] = true;
  const Shifted shifted = ShiftedExponentials(builder, x, folded, Keep::kExponentials);
  return std::vector{builder.Pointwise(
      {shifted.exponential, shifted.sum}, ComputeType(x.dtype), node.dtype(), [](const Args& a) {
        const ExprPtr inverse = Make(ExprOp::kDivide, {Constant(1, a[1]->type), a[1]});
        return Make(ExprOp::kMultiply, {a[0], inverse});
      })};
}

Values LowerLogSoftmax(ProgramBuilder& builder, const NodeView& node) {
  const Value x = builder.ForReuse(node.Tensor(0));
  std::vector<bool> folded(x.shape.size(), false);
  if (!folded.empty()) folded[node.Dimension(1, "dim", x.shape.size())] = true;
  const Shifted shifted = ShiftedExponentials(builder, x, folded, Keep::kNothing);
  return std::vector{builder.Pointwise(
      {x, shifted.largest, shifted.sum}, ComputeType(x.dtype), node.dtype(), [](const Args& a) {
        const ExprPtr distance = Make(ExprOp::kSubtract, {a[0], a[1]});
        return Make(ExprOp::kSubtract, {distance, Make(ExprOp::kLog, {a[2]})});
      })};
}

// Mean and variance: two reductions over the data, or the values that the operator is given.
struct Moments {
  Value mean;
  Value variance;
};

Moments MomentsOf(ProgramBuilder& builder, const Value& x, const std::vector<bool>& folded) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < folded.size(); ++i)
    if (folded[i]) count *= x.shape[i];
  Moments moments;
  moments.mean = Mean(builder, x, folded, true);
  const Value sum = SquaredDistance(builder, x, moments.mean,
                                    {.folded = folded, .keep = true, .dtype = SumType(x.dtype)});
  moments.variance = DividedBy(builder, sum, count);
  return moments;
}

// Returns 1 / sqrt(variance + eps).
ExprPtr InverseDeviation(const ExprPtr& variance, double eps) {
  const ExprPtr safe = Make(ExprOp::kAdd, {variance, Constant(eps, variance->type)});
  return Make(ExprOp::kDivide, {Constant(1, variance->type), Make(ExprOp::kSquareRoot, {safe})});
}

// Returns (x - mean) / sqrt(variance + eps) * weight + bias. Weight and bias may be absent.
Value Normalised(ProgramBuilder& builder, const Value& x, const Moments& moments, double eps,
                 const std::vector<Value>& weight, const std::vector<Value>& bias) {
  std::vector<Value> operands{x, moments.mean, moments.variance};
  operands.insert(operands.end(), weight.begin(), weight.end());
  operands.insert(operands.end(), bias.begin(), bias.end());
  const auto combine = [&](const Args& a) {
    const ExprPtr distance = Make(ExprOp::kSubtract, {a[0], a[1]});
    ExprPtr scale = InverseDeviation(a[2], eps);
    if (!weight.empty()) scale = Make(ExprOp::kMultiply, {scale, a[3]});
    ExprPtr result = Make(ExprOp::kMultiply, {distance, scale});
    if (!bias.empty()) result = Make(ExprOp::kAdd, {result, a.back()});
    return result;
  };
  return builder.Pointwise(operands, ComputeType(x.dtype), x.dtype, combine);
}

// Returns the normalised tensor with the two further results of the operator: the mean, and
// 1 / sqrt(variance + eps). Without elements these were not asked for.
std::vector<Value> WithStatistics(ProgramBuilder& builder, const NodeView& node,
                                  const Value& result, const Moments& moments, double eps) {
  std::vector<Value> results{result};
  if (node.node().results.size() < 3) return results;
  const Value inverse =
      builder.Pointwise({moments.variance}, std::nullopt, moments.variance.dtype,
                        [&](const Args& a) { return InverseDeviation(a[0], eps); });
  for (const Value& value : {moments.mean, inverse}) {
    const std::size_t place = results.size();
    const Shape& shape = node.shape(place);
    results.push_back(Elements(shape) == 0
                          ? ProgramBuilder::Filled(0, node.dtype(place), shape)
                          : AsType(builder, builder.Reshaped(value, shape), node.dtype(place)));
  }
  return results;
}

// Returns an optional operand with another shape, or nothing where it is None.
std::vector<Value> Optional(ProgramBuilder& builder, const NodeView& node, std::size_t place,
                            const Shape& shape) {
  if (!node.IsTensor(place)) return {};
  return {builder.Settled(builder.Reshaped(node.Tensor(place), shape))};
}

Values LowerLayerNorm(ProgramBuilder& builder, const NodeView& node) {
  const Value x = builder.Settled(builder.ForReuse(node.Tensor(0)));
  const std::size_t normalised = node.Ints(1, "normalized_shape").size();
  std::vector<bool> folded(x.shape.size(), false);
  Shape tail;
  for (std::size_t i = x.shape.size() - normalised; i < x.shape.size(); ++i) {
    folded[i] = true;
    tail.push_back(x.shape[i]);
  }
  const Moments moments = MomentsOf(builder, x, folded);
  const double eps = node.Real(4, "eps", 1e-5);
  const Value result = Normalised(builder, x, moments, eps, Optional(builder, node, 2, tail),
                                  Optional(builder, node, 3, tail));
  return WithStatistics(builder, node, result, moments, eps);
}

Values LowerGroupNorm(ProgramBuilder& builder, const NodeView& node) {
  const std::int64_t batch = node.Int(3, "N", 1);
  const std::int64_t channels = node.Int(4, "C", 1);
  const std::int64_t inner = node.Int(5, "HxW", 1);
  const std::int64_t groups = node.Int(6, "group", 1);
  const Value given = builder.ForReuse(node.Tensor(0));
  const Value x =
      builder.Settled(builder.Reshaped(given, {batch, groups, channels / groups, inner}));
  const Shape shape{1, groups, channels / groups, 1};
  const Moments moments = MomentsOf(builder, x, {false, false, true, true});
  const double eps = node.Real(7, "eps", 1e-5);
  const Value result = Normalised(builder, x, moments, eps, Optional(builder, node, 1, shape),
                                  Optional(builder, node, 2, shape));
  return WithStatistics(builder, node, builder.Reshaped(result, node.shape()), moments, eps);
}

// Argument positions for each variant of batch normalisation.
struct BatchNormForm {
  bool statistics = false;   // running mean and variance are arguments 3 and 4
  std::size_t training = 0;  // 0: there is no such argument, and the running statistics are used
  std::size_t eps = 0;       // the momentum is the argument before it
};

// Returns what the running mean and variance are after a step: each is moved towards that of the
// batch, where the variance is the unbiased one. Without a step they stay.
std::vector<Value> Moved(ProgramBuilder& builder, const NodeView& node, const Moments& running,
                         const Moments& batch, double count, double momentum) {
  const auto towards = [&](const Value& from, const Value& to, double factor, const Shape& shape) {
    const Value moved =
        builder.Pointwise({from, to}, ComputeType(from.dtype), from.dtype, [&](const Args& a) {
          const auto part = [&](const ExprPtr& x, double share) {
            return Make(ExprOp::kMultiply, {x, Constant(share, x->type)});
          };
          return Make(ExprOp::kAdd, {part(a[0], 1 - momentum), part(a[1], momentum * factor)});
        });
    return builder.Reshaped(moved, shape);
  };
  return {towards(running.mean, batch.mean, 1, node.shape(3)),
          towards(running.variance, batch.variance, count / (count - 1), node.shape(4))};
}

Lower BatchNorm(BatchNormForm form) {
  return [form](ProgramBuilder& builder, const NodeView& node) -> Values {
    BatchNormForm used = form;
    if (node.overload() == "no_stats") used = {.statistics = false, .training = 3, .eps = 5};
    const Value x = builder.Settled(builder.ForReuse(node.Tensor(0)));
    std::vector<bool> folded(x.shape.size(), true);
    folded[1] = false;
    Shape channel(x.shape.size(), 1);
    channel[1] = x.shape[1];
    const bool kept = used.statistics && node.IsTensor(3) && node.IsTensor(4);
    const bool training = used.training != 0 && node.Flag(used.training, "training", false);
    if (!kept && !training) return Unsupported(node, "neither statistics nor training");
    Moments running;
    if (kept)
      running = {Optional(builder, node, 3, channel)[0], Optional(builder, node, 4, channel)[0]};
    const Moments moments = training ? MomentsOf(builder, x, folded) : running;
    const double eps = node.Real(used.eps, "eps", 1e-5);
    const Value result = Normalised(builder, x, moments, eps, Optional(builder, node, 1, channel),
                                    Optional(builder, node, 2, channel));
    std::vector<Value> results = WithStatistics(builder, node, result, moments, eps);
    if (node.node().results.size() == 5 && kept) {
      const double count = static_cast<double>(Elements(x.shape) / x.shape[1]);
      const std::vector<Value> after = training ? Moved(builder, node, running, moments, count,
                                                        node.Real(used.eps - 1, "momentum", 0.1))
                                                : std::vector{node.Tensor(3), node.Tensor(4)};
      results.insert(results.end(), after.begin(), after.end());
    }
    return results;
  };
}

}  // namespace

const LowerTable& NormOperators() {
  const BatchNormForm running{.statistics = true, .training = 5, .eps = 7};
  static const LowerTable kTable{{"_softmax", LowerSoftmax},
                                 {"softmax", LowerSoftmax},
                                 {"_log_softmax", LowerLogSoftmax},
                                 {"log_softmax", LowerLogSoftmax},
                                 {"native_layer_norm", LowerLayerNorm},
                                 {"native_group_norm", LowerGroupNorm},
                                 {"_native_batch_norm_legit_functional", BatchNorm(running)},
                                 {"_native_batch_norm_legit", BatchNorm(running)},
                                 {"native_batch_norm", BatchNorm(running)},
                                 {"_native_batch_norm_legit_no_training",
                                  BatchNorm({.statistics = true, .training = 0, .eps = 6})}};
  return kTable;
}

}  // namespace pragma::expert
