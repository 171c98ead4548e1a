// Operators that read an image between its pixels: upsample_nearest, upsample_bilinear,
// grid_sampler.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/lower/arithmetic.h"
#include "expert/lower/lowering.h"
#include "expert/lower/places.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {
namespace {

using Values = Result<std::vector<Value>>;

ExprPtr Real(double value) { return Constant(value, ExprType::kFloat); }
ExprPtr Whole(std::int64_t value) { return Constant(static_cast<double>(value), ExprType::kInt); }
ExprPtr Clamped(ExprPtr x, const ExprPtr& low, const ExprPtr& high) {
  return Make(ExprOp::kMin, {high, Make(ExprOp::kMax, {low, std::move(x)})});
}

// One position along a dimension, and how much what is there counts. A null weight is 1. Where
// `inside` does not hold there is nothing, whatever the image has at the position: not even 0 times
// infinity.
struct Tap {
  ExprPtr position;
  ExprPtr weight;
  ExprPtr inside = nullptr;
};

// The dimensions that are resampled are the last ones; the others stay.
class Resampler final {
 public:
  Resampler(ProgramBuilder& builder, const Value& x, const Shape& shape, std::size_t first)
      : builder_(builder), x_(builder.Stored(x)), shape_(shape), first_(first) {}

  // `taps` are those of each resampled dimension. The result is the sum over all combinations.
  [[nodiscard]] Value Sum(const std::vector<std::vector<Tap>>& taps) const {
    ExprPtr sum;
    std::vector<const Tap*> chosen;
    const std::function<void(std::size_t)> add = [&](std::size_t dimension) {
      if (dimension == taps.size()) {
        const ExprPtr term = Term(chosen);
        sum = sum ? Plus(sum, term) : term;
        return;
      }
      for (const Tap& tap : taps[dimension]) {
        chosen.push_back(&tap);
        add(dimension + 1);
        chosen.pop_back();
      }
    };
    add(0);
    return {sum, shape_, shape_, x_.dtype};
  }

 private:
  [[nodiscard]] ExprPtr Term(const std::vector<const Tap*>& taps) const {
    Addressing at{{}, IdentityMap(shape_.size())};
    ExprPtr weight;
    ExprPtr inside;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      at.map.index[first_ + i] = ZeroForm(shape_.size());
      at.places.push_back({first_ + i, {taps[i]->position, shape_, shape_, DType::kInt64}, false});
      if (taps[i]->weight) weight = weight ? Mul(weight, taps[i]->weight) : taps[i]->weight;
      if (taps[i]->inside)
        inside = inside ? Make(ExprOp::kAnd, {inside, taps[i]->inside}) : taps[i]->inside;
    }
    const ExprPtr load = LoadAt(builder_, *x_.expr, x_.shape, at);
    const ExprPtr term = weight ? Mul(Cast(load, weight->type), weight) : load;
    return inside ? Select(inside, term, Constant(0, term->type)) : term;
  }

  ProgramBuilder& builder_;
  Value x_;
  Shape shape_;
  std::size_t first_;
};

// What upsample_* says of one dimension.
struct Axis {
  std::size_t dimension = 0;
  std::int64_t from = 1;
  std::int64_t to = 1;
  std::optional<double> factor;  // the scale that was asked for, where one was

  // Source pixels for each pixel of the result.
  [[nodiscard]] double Step() const {
    return factor ? 1 / *factor : static_cast<double>(from) / static_cast<double>(to);
  }
};

ExprPtr Index() { return Cast(IndexOf({{1}, 0}), ExprType::kFloat); }

// Computes taps once, in memory. `own` is the shape over which they are, and `along` says where
// each element of the result finds its own.
std::vector<Tap> Kept(ProgramBuilder& builder, const std::vector<Tap>& taps, const Shape& own,
                      const IndexMap& along, const Shape& shape) {
  const auto kept = [&](const ExprPtr& expr, DType dtype) -> ExprPtr {
    if (!expr) return nullptr;
    return builder.Mapped(builder.Stored({expr, own, own, dtype}), along, shape).expr;
  };
  std::vector<Tap> result;
  for (const Tap& tap : taps)
    result.push_back({kept(tap.position, DType::kInt64), kept(tap.weight, DType::kFloat32),
                      kept(tap.inside, DType::kBool)});
  return result;
}

std::vector<Tap> Kept(ProgramBuilder& builder, const std::vector<Tap>& taps, const Axis& axis,
                      const Shape& shape) {
  IndexMap along{shape.size(), {ZeroForm(shape.size())}};
  along.index[0].factor[axis.dimension] = 1;
  return Kept(builder, taps, {axis.to}, along, shape);
}

std::vector<Tap> Nearest(const Axis& axis) {
  const ExprPtr place = Make(ExprOp::kFloor, {Mul(Index(), Real(axis.Step()))});
  return {{Make(ExprOp::kMin, {Whole(axis.from - 1), Cast(place, ExprType::kInt)}), nullptr}};
}

// The two pixels at a place, which is not negative, weighted by its distance from each.
std::vector<Tap> Between(const ExprPtr& place, std::int64_t size) {
  const ExprPtr low = Make(ExprOp::kMin, {Whole(size - 1), Cast(place, ExprType::kInt)});
  const ExprPtr high = Make(ExprOp::kMin, {Whole(size - 1), Plus(low, Whole(1))});
  const ExprPtr part = Clamped(Sub(place, Cast(low, ExprType::kFloat)), Real(0), Real(1));
  return {{low, Sub(Real(1), part)}, {high, part}};
}

std::vector<Tap> Linear(const Axis& axis, bool align_corners) {
  const ExprPtr index = Index();
  if (align_corners) {
    const double step =
        axis.to > 1 ? static_cast<double>(axis.from - 1) / static_cast<double>(axis.to - 1) : 0;
    return Between(Mul(index, Real(step)), axis.from);
  }
  const ExprPtr middle = Sub(Mul(Plus(index, Real(0.5)), Real(axis.Step())), Real(0.5));
  return Between(Make(ExprOp::kMax, {Real(0), middle}), axis.from);
}

// The overload "vec" has the factors as a list, the others one by one.
std::vector<Axis> AxesOf(const NodeView& node, std::size_t factors_at) {
  const Shape& from = node.Tensor(0).shape;
  std::vector<Axis> axes;
  for (std::size_t i = 2; i < from.size(); ++i) {
    Axis axis{i, from[i], node.shape()[i], std::nullopt};
    const std::size_t place = factors_at + i - 2;
    const ScalarValue* factors = node.Find(factors_at, "scale_factors");
    if (node.overload() == "vec") {
      if (factors != nullptr && factors->items.size() + 2 == from.size())
        axis.factor = NumberOf(factors->items[i - 2]);
    } else if (node.Has(place)) {
      axis.factor = node.Real(place, "", 1);
    }
    axes.push_back(axis);
  }
  return axes;
}

// Each pixel is repeated a whole number of times.
std::optional<Value> Repeated(ProgramBuilder& builder, const Value& x, const Shape& shape,
                              const std::vector<Axis>& axes) {
  Shape once(x.shape.begin(), x.shape.begin() + 2);
  Shape apart = once;
  for (const Axis& axis : axes) {
    const std::int64_t times = axis.to / axis.from;
    if (times * axis.from != axis.to || axis.Step() * static_cast<double>(times) != 1)
      return std::nullopt;
    once.insert(once.end(), {axis.from, 1});
    apart.insert(apart.end(), {axis.from, times});
  }
  const Value wide = builder.Expanded(builder.Settled(builder.Reshaped(x, once)), apart);
  return builder.Reshaped(wide, shape);
}

Values LowerNearest(ProgramBuilder& builder, const NodeView& node) {
  if (node.dtype() == DType::kFloat64) return Unsupported(node, "of float64");
  const Value x = node.Tensor(0);
  const std::vector<Axis> axes = AxesOf(node, 2);
  if (std::optional<Value> repeated = Repeated(builder, x, node.shape(), axes))
    return std::vector{std::move(*repeated)};
  std::vector<std::vector<Tap>> taps;
  for (const Axis& axis : axes) taps.push_back(Kept(builder, Nearest(axis), axis, node.shape()));
  return std::vector{Resampler(builder, x, node.shape(), 2).Sum(taps)};
}

Values LowerLinearly(ProgramBuilder& builder, const NodeView& node) {
  if (node.dtype() == DType::kFloat64) return Unsupported(node, "of float64");
  std::vector<std::vector<Tap>> taps;
  for (const Axis& axis : AxesOf(node, 3))
    taps.push_back(
        Kept(builder, Linear(axis, node.Flag(2, "align_corners", false)), axis, node.shape()));
  return std::vector{Resampler(builder, node.Tensor(0), node.shape(), 2).Sum(taps)};
}

// ---- grid_sampler

enum class Outside : std::uint8_t { kZeros, kBorder, kReflected };
enum class Interpolation : std::uint8_t { kLinear, kNearest, kCubic };

// How an image is read at a place.
struct Sampling {
  Interpolation mode = Interpolation::kLinear;
  Outside outside = Outside::kZeros;
  bool align_corners = false;
};

// A grid's coordinate from -1 to 1 as a place among the pixels.
ExprPtr PlaceOf(const ExprPtr& coordinate, std::int64_t size, bool align_corners) {
  const auto pixels = static_cast<double>(size);
  if (align_corners) return Mul(Plus(coordinate, Real(1)), Real((pixels - 1) / 2));
  return Mul(Sub(Mul(Plus(coordinate, Real(1)), Real(pixels)), Real(1)), Real(0.5));
}

// A tap counts only where it is inside.
Tap Inside(const ExprPtr& place, const ExprPtr& weight, std::int64_t size) {
  const ExprPtr last = Real(static_cast<double>(size - 1));
  const ExprPtr inside = Make(ExprOp::kAnd, {LessEqual(Real(0), place), LessEqual(place, last)});
  const ExprPtr safe = Select(inside, place, Real(0));
  return {Cast(safe, ExprType::kInt), weight, inside};
}

// Reflects a place at the first and at the last pixel, or at their outer borders, as often as it
// takes. The formula is Torch's, so that places far outside are rounded alike.
ExprPtr Reflected(const ExprPtr& place, std::int64_t size, bool align_corners) {
  const double low = align_corners ? 0 : -0.5;
  const auto twice = static_cast<double>(2 * (align_corners ? size - 1 : size));
  if (twice == 0) return Real(0);
  const ExprPtr away = Make(ExprOp::kAbs, {Sub(place, Real(low))});
  const ExprPtr pairs = Make(ExprOp::kFloor, {Div(away, Real(twice))});
  const ExprPtr rest = Sub(away, Mul(pairs, Real(twice)));
  return Plus(Make(ExprOp::kMin, {rest, Sub(Real(twice), rest)}), Real(low));
}

// Returns where a place that may be outside is read.
ExprPtr Within(const ExprPtr& place, std::int64_t size, const Sampling& sampling) {
  if (sampling.outside == Outside::kZeros) return place;
  const bool reflects = sampling.outside == Outside::kReflected;
  return Clamped(reflects ? Reflected(place, size, sampling.align_corners) : place, Real(0),
                 Real(static_cast<double>(size - 1)));
}

// The weights of four neighbours (Keys' cubic convolution with a = -0.75, as Torch has it), by
// their distances. Each neighbour is brought inside by itself.
std::vector<Tap> Cubic(const ExprPtr& place, std::int64_t size, const Sampling& sampling) {
  constexpr double kA = -0.75;
  const ExprPtr low = Make(ExprOp::kFloor, {place});
  const ExprPtr part = Sub(place, low);
  const auto near = [&](const ExprPtr& x) {  // |x| <= 1
    const ExprPtr slope = Sub(Mul(Real(kA + 2), x), Real(kA + 3));
    return Plus(Mul(Mul(slope, x), x), Real(1));
  };
  const auto far = [&](const ExprPtr& x) {  // 1 < |x| < 2
    const ExprPtr inner = Plus(Mul(Sub(Mul(Real(kA), x), Real(5 * kA)), x), Real(8 * kA));
    return Sub(Mul(inner, x), Real(4 * kA));
  };
  const std::vector<ExprPtr> weights{far(Plus(part, Real(1))), near(part), near(Sub(Real(1), part)),
                                     far(Sub(Real(2), part))};
  std::vector<Tap> taps;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const ExprPtr at = Plus(low, Real(static_cast<double>(i) - 1));
    taps.push_back(Inside(Within(at, size, sampling), weights[i], size));
  }
  return taps;
}

std::vector<Tap> Sampled(const ExprPtr& given, std::int64_t size, const Sampling& sampling) {
  if (sampling.mode == Interpolation::kCubic) return Cubic(given, size, sampling);
  const ExprPtr place = Within(given, size, sampling);
  if (sampling.mode == Interpolation::kNearest)
    return {Inside(Make(ExprOp::kRound, {place}), nullptr, size)};
  const ExprPtr low = Make(ExprOp::kFloor, {place});
  const ExprPtr part = Sub(place, low);
  return {Inside(low, Sub(Real(1), part), size), Inside(Plus(low, Real(1)), part, size)};
}

Values LowerGridSampler(ProgramBuilder& builder, const NodeView& node) {
  if (node.dtype() == DType::kFloat64) return Unsupported(node, "of float64");
  const Sampling sampling{static_cast<Interpolation>(node.Int(2, "interpolation_mode", 0)),
                          static_cast<Outside>(node.Int(3, "padding_mode", 0)),
                          node.Flag(4, "align_corners", false)};
  const Value x = node.Tensor(0);
  const Value grid = builder.Settled(builder.ForReuse(node.Tensor(1)));
  const Shape pixels(grid.shape.begin(), grid.shape.end() - 1);  // of the result, in all channels
  IndexMap in_channels{node.shape().size(), {}};
  for (std::size_t d = 0; d < pixels.size(); ++d) {
    in_channels.index.push_back(ZeroForm(in_channels.rank));
    in_channels.index.back().factor[d == 0 ? 0 : d + 1] = 1;
  }
  std::vector<std::vector<Tap>> taps;
  for (std::size_t i = 2; i < node.shape().size(); ++i) {
    // The last dimension of the grid has the coordinates, that of the image's last dimension first.
    IndexMap map = IdentityMap(pixels.size());
    map.index.push_back(ZeroForm(pixels.size()));
    map.index.back().offset = static_cast<std::int64_t>(node.shape().size() - 1 - i);
    const Value coordinate = builder.Mapped(grid, map, pixels);
    const ExprPtr place =
        PlaceOf(Cast(coordinate.expr, ExprType::kFloat), x.shape[i], sampling.align_corners);
    taps.push_back(
        Kept(builder, Sampled(place, x.shape[i], sampling), pixels, in_channels, node.shape()));
  }
  return std::vector{Resampler(builder, x, node.shape(), 2).Sum(taps)};
}

}  // namespace

const LowerTable& ResampleOperators() {
  static const LowerTable kTable{
      {"upsample_nearest1d", LowerNearest},   {"upsample_nearest2d", LowerNearest},
      {"upsample_nearest3d", LowerNearest},   {"upsample_linear1d", LowerLinearly},
      {"upsample_bilinear2d", LowerLinearly}, {"upsample_trilinear3d", LowerLinearly},
      {"grid_sampler_2d", LowerGridSampler},  {"grid_sampler_3d", LowerGridSampler}};
  return kTable;
}

}  // namespace pragma::expert
