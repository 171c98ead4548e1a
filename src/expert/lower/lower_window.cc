// Pooling: reductions over windows. Windows are views with one more dimension for each pooled
// dimension.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/adaptive.h"
#include "expert/lower/folds.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;

struct PoolWindow {
  Shape kernel;
  Shape stride;
  Shape padding;
  Shape dilation;
};

PoolWindow WindowOf(const NodeView& node, std::size_t count, std::optional<std::size_t> dilation) {
  PoolWindow window;
  window.kernel = node.Ints(1, "kernel_size", count, 1);
  const std::vector<std::int64_t> stride = node.Ints(2, "stride");
  window.stride = stride.empty() ? window.kernel : node.Ints(2, "stride", count, 1);
  window.padding = node.Ints(3, "padding", count, 0);
  window.dilation = dilation ? node.Ints(*dilation, "dilation", count, 1) : Shape(count, 1);
  return window;
}

// Returns the sizes of the pooled dimensions, which are the last ones.
Shape Tail(const Shape& shape, std::size_t count) {
  return {shape.end() - static_cast<std::ptrdiff_t>(count), shape.end()};
}

bool ReachesOutside(const PoolWindow& window, const Shape& in, const Shape& out, std::size_t i) {
  const std::int64_t last = (out[i] - 1) * window.stride[i] +
                            (window.kernel[i] - 1) * window.dilation[i] - window.padding[i];
  return window.padding[i] > 0 || last >= in[i];
}

bool Overlaps(const PoolWindow& window) {
  for (std::size_t i = 0; i < window.kernel.size(); ++i)
    if (window.kernel[i] > window.stride[i]) return true;
  return false;
}

// Returns x over [lead..., out..., kernel...]. Positions outside the tensor have the value
// `outside`.
Value Windows(ProgramBuilder& builder, const Value& given, const PoolWindow& window,
              const Shape& out, double outside) {
  const std::size_t count = window.kernel.size();
  const std::size_t lead = given.shape.size() - count;
  const Shape in = Tail(given.shape, count);
  bool leaves = false;
  for (std::size_t i = 0; i < count; ++i) leaves = leaves || ReachesOutside(window, in, out, i);
  Value x = builder.Settled(given);
  // Pointwise work is computed inside the window only where that means once per element.
  if ((leaves || Overlaps(window)) && !IsPlainLoad(*x.expr)) x = builder.Stored(x);
  IndexMap map{lead + 2 * count, {}};
  Shape shape(given.shape.begin(), given.shape.begin() + static_cast<std::ptrdiff_t>(lead));
  shape.insert(shape.end(), out.begin(), out.end());
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  std::vector<Bound> bounds;
  for (std::size_t i = 0; i < lead + count; ++i) {
    AffineForm form = ZeroForm(map.rank);
    form.factor[i] = 1;
    if (i >= lead) {
      form.factor[i] = window.stride[i - lead];
      form.factor[i + count] = window.dilation[i - lead];
      form.offset = -window.padding[i - lead];
      if (ReachesOutside(window, in, out, i - lead)) bounds.push_back({form, in[i - lead]});
    }
    map.index.push_back(std::move(form));
  }
  Value windows = builder.Mapped(x, map, shape);
  if (bounds.empty()) return windows;
  auto load = std::make_shared<Expr>(*windows.expr);
  load->load.bounds = std::move(bounds);
  load->load.outside = outside;
  windows.expr = std::move(load);
  return windows;
}

std::vector<bool> LastDims(std::size_t rank, std::size_t count) {
  std::vector<bool> folded(rank, false);
  for (std::size_t i = rank - count; i < rank; ++i) folded[i] = true;
  return folded;
}

// Returns the maximum of each window, and its flat index in the pooled dimensions of the input.
std::vector<Value> MaxPooled(ProgramBuilder& builder, const NodeView& node,
                             const PoolWindow& window) {
  const std::size_t count = window.kernel.size();
  const Value x = node.Tensor(0);
  const Shape in = Tail(x.shape, count);
  const Value windows = Windows(builder, x, window, Tail(node.shape(), count), -INFINITY);
  const std::size_t rank = windows.shape.size();
  ProgramBuilder::FoldPlan plan{
      .fold = Fold::kMax, .folded = LastDims(rank, count), .dtype = node.dtype()};
  std::vector<Value> results{builder.Folded(windows, plan)};
  plan.fold = Fold::kArgMax;
  plan.dtype = DType::kInt64;
  plan.position = ZeroForm(rank);
  std::int64_t stride = 1;
  for (std::size_t i = count; i-- > 0;) {
    plan.position.factor[rank - 2 * count + i] = window.stride[i] * stride;
    plan.position.factor[rank - count + i] = window.dilation[i] * stride;
    plan.position.offset -= window.padding[i] * stride;
    stride *= in[i];
  }
  results.push_back(builder.Folded(windows, plan));
  return results;
}

Lower MaxPool(std::size_t count) {
  return [count](ProgramBuilder& builder, const NodeView& node) -> Values {
    return MaxPooled(builder, node, WindowOf(node, count, 4));
  };
}

// Returns the number of elements by which a window is divided at each position of one dimension, as
// a number of type `type` over a tensor of this rank. Returns null where it is the whole kernel
// everywhere.
ExprPtr WindowLength(const PoolWindow& window, std::size_t i, std::int64_t size, AffineForm start,
                     bool count_padding) {
  const std::int64_t low = count_padding ? -window.padding[i] : 0;
  const std::int64_t high = count_padding ? size + window.padding[i] : size;
  AffineForm end = start;
  end.offset += window.kernel[i];
  const auto number = [](std::int64_t n) {
    return Constant(static_cast<double>(n), ExprType::kInt);
  };
  return Make(ExprOp::kSubtract, {Make(ExprOp::kMin, {IndexOf(end), number(high)}),
                                  Make(ExprOp::kMax, {IndexOf(start), number(low)})});
}

// Returns the reciprocal of the number of elements of each window.
ExprPtr Weight(const PoolWindow& window, const Shape& in, const Shape& out, const NodeView& node,
               ExprType type) {
  const std::size_t count = window.kernel.size();
  const std::int64_t override = node.Int(6, "divisor_override", 0);
  if (override != 0) return Constant(1 / static_cast<double>(override), type);
  const bool count_padding = node.Flag(5, "count_include_pad", true);
  ExprPtr varying;
  double fixed = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t last = (out[i] - 1) * window.stride[i] + window.kernel[i];
    const bool clipped =
        count_padding ? last > in[i] + 2 * window.padding[i] : ReachesOutside(window, in, out, i);
    if (!clipped) {
      fixed *= static_cast<double>(window.kernel[i]);
      continue;
    }
    AffineForm start = ZeroForm(node.shape().size());
    start.factor[node.shape().size() - count + i] = window.stride[i];
    start.offset = -window.padding[i];
    const ExprPtr length = WindowLength(window, i, in[i], start, count_padding);
    varying = varying ? Make(ExprOp::kMultiply, {varying, length}) : length;
  }
  if (!varying) return Constant(1 / fixed, type);
  const ExprPtr all = Make(ExprOp::kMultiply, {Cast(varying, type), Constant(fixed, type)});
  return Make(ExprOp::kDivide, {Constant(1, type), all});
}

Value AveragePooled(ProgramBuilder& builder, const NodeView& node, const PoolWindow& window) {
  const std::size_t count = window.kernel.size();
  const Value x = node.Tensor(0);
  const Shape out = Tail(node.shape(), count);
  const Value windows = Windows(builder, x, window, out, 0);
  const Value sum = builder.Folded(
      windows, {.folded = LastDims(windows.shape.size(), count), .dtype = SumType(node.dtype())});
  const ExprType type = ComputeType(node.dtype());
  const Value weight{Weight(window, Tail(x.shape, count), out, node, type), node.shape(),
                     node.shape(), node.dtype()};
  return builder.Pointwise({sum, weight}, type, node.dtype(), [](const std::vector<ExprPtr>& a) {
    return Make(ExprOp::kMultiply, a);
  });
}

Lower AveragePool(std::size_t count) {
  return [count](ProgramBuilder& builder, const NodeView& node) -> Values {
    return std::vector{AveragePooled(builder, node, WindowOf(node, count, std::nullopt))};
  };
}

// Returns the window of adaptive pooling where the sizes divide, which makes it plain pooling.
// Otherwise returns nullopt.
std::optional<PoolWindow> EvenWindow(const Shape& in, const Shape& out) {
  const std::size_t count = in.size();
  PoolWindow window{{}, {}, Shape(count, 0), Shape(count, 1)};
  for (std::size_t i = 0; i < count; ++i) {
    if (in[i] % out[i] != 0) return std::nullopt;
    window.kernel.push_back(in[i] / out[i]);
  }
  window.stride = window.kernel;
  return window;
}

Lower AdaptiveAverage(std::size_t count) {
  return [count](ProgramBuilder& builder, const NodeView& node) -> Values {
    const Shape in = Tail(node.Tensor(0).shape, count);
    const Shape out = Tail(node.shape(), count);
    const ExprType type = ComputeType(node.dtype());
    Value sum;
    ExprPtr weight;
    if (const std::optional<PoolWindow> window = EvenWindow(in, out)) {
      const Value windows = Windows(builder, node.Tensor(0), *window, out, 0);
      sum = builder.Folded(windows, {.folded = LastDims(windows.shape.size(), count),
                                     .dtype = SumType(node.dtype())});
      weight = Constant(1 / static_cast<double>(Elements(window->kernel)), type);
    } else {
      sum = AdaptiveSum(builder, node.Tensor(0), out);
      weight = AdaptiveWeight(in, out, node.shape(), type);
    }
    const Value each{weight, node.shape(), node.shape(), node.dtype()};
    return std::vector{builder.Pointwise(
        {sum, each}, type, node.dtype(),
        [](const std::vector<ExprPtr>& a) { return Make(ExprOp::kMultiply, a); })};
  };
}

Lower AdaptiveMax(std::size_t count) {
  return [count](ProgramBuilder& builder, const NodeView& node) -> Values {
    const Shape in = Tail(node.Tensor(0).shape, count);
    const Shape out = Tail(node.shape(), count);
    if (const std::optional<PoolWindow> window = EvenWindow(in, out))
      return MaxPooled(builder, node, *window);
    return AdaptiveMaximum(builder, node.Tensor(0), out);
  };
}

}  // namespace

const LowerTable& WindowOperators() {
  static const LowerTable kTable{{"max_pool1d_with_indices", MaxPool(1)},
                                 {"max_pool2d_with_indices", MaxPool(2)},
                                 {"max_pool3d_with_indices", MaxPool(3)},
                                 {"max_pool1d", MaxPool(1)},
                                 {"max_pool2d", MaxPool(2)},
                                 {"max_pool3d", MaxPool(3)},
                                 {"avg_pool1d", AveragePool(1)},
                                 {"avg_pool2d", AveragePool(2)},
                                 {"avg_pool3d", AveragePool(3)},
                                 {"_adaptive_avg_pool2d", AdaptiveAverage(2)},
                                 {"_adaptive_avg_pool3d", AdaptiveAverage(3)},
                                 {"adaptive_avg_pool1d", AdaptiveAverage(1)},
                                 {"adaptive_max_pool1d", AdaptiveMax(1)},
                                 {"adaptive_max_pool2d", AdaptiveMax(2)},
                                 {"adaptive_max_pool3d", AdaptiveMax(3)}};
  return kTable;
}

}  // namespace pragma::expert
