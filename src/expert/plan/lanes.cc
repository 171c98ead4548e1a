#include "expert/plan/lanes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>

#include "core/task.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {
namespace {

constexpr std::int64_t kFewest = 4;  // smallest dimension that is worth vectors
constexpr double kStridedLoad = 4;   // cost relative to a contiguous load, for lanes in nearby
                                     // cache lines
constexpr double kStridedStore = 8;
constexpr std::int64_t kShuffled = 4;  // largest stride at which loads and shuffles make a vector

DType TypeOf(const Program& program, int buffer) {
  return program.buffers[static_cast<std::size_t>(buffer)].dtype;
}

bool ArithmeticOfInts(ExprOp op) {
  switch (op) {
    case ExprOp::kConstant:
    case ExprOp::kIndex:
    case ExprOp::kAdd:
    case ExprOp::kSubtract:
    case ExprOp::kMultiply:
    case ExprOp::kMin:
    case ExprOp::kMax:
    case ExprOp::kSelect: return true;
    default: return false;
  }
}

// Returns whether an expression has a vector form along this dimension.
bool ExprHasVectorForm(const Program& program, const ExprPtr& expr, std::size_t lane) {
  if (!DependsOn(expr, lane)) return true;
  if (expr->type == ExprType::kDouble) return false;
  if (expr->op == ExprOp::kLoad) {
    const DType dtype = TypeOf(program, expr->load.buffer);
    const bool flags =
        dtype == DType::kBool && expr->load.bounds.empty() && expr->load.address.factor[lane] == 1;
    if (dtype != DType::kFloat32 && !flags) return false;
    for (const Indirect& part : expr->load.indirect)
      if (DependsOn(part.index, lane)) return false;
    return true;
  }
  if (expr->type == ExprType::kInt && !ArithmeticOfInts(expr->op)) return false;
  if (expr->op == ExprOp::kCast && expr->type != ExprType::kFloat &&
      expr->args[0]->type != ExprType::kFloat)
    return false;
  return std::ranges::all_of(expr->args, [&](const ExprPtr& arg) {
    return arg->type != ExprType::kDouble && ExprHasVectorForm(program, arg, lane);
  });
}

// Returns the cost of accessing one vector. The farther apart its lanes are, the more cache lines
// it touches, up to one per lane.
double PriceOf(const AffineForm& form, std::size_t lane, double strided) {
  constexpr std::int64_t kLine = 16;  // floats in a cache line
  const std::int64_t stride = std::abs(form.factor[lane]);
  if (stride == 0) return 0.25;
  if (stride == 1) return 1;
  if (stride <= kShuffled) return std::min(strided, static_cast<double>(stride));
  return strided + static_cast<double>(std::min(stride, kLine)) / 2;
}

// Returns the cost per element of one pass with vectors along `lane`.
std::optional<double> PriceOf(const Program& program, const Nest& nest, std::size_t lane) {
  double price = 0;
  for (std::size_t s = 0; s < nest.steps.size(); ++s) {
    if (nest.outer[s] && nest.inner[lane]) continue;  // runs once for many elements
    const Step& step = nest.steps[s];
    if (!HasVectorForm(program, step, nest, lane)) return std::nullopt;
    const double once = 1 / static_cast<double>(nest.InnerCount());
    VisitLoads(step.expr, [&](const Load& load, ExprType) {
      const double loads = nest.outer[s] ? once : 1;
      price += loads * PriceOf(load.address, lane, kStridedLoad);
      for (const Bound& bound : load.bounds)
        if (bound.form.factor[lane] != 0) price += loads;
    });
    // A reduction stores once for all elements that it reduces.
    const bool folds = step.kind == Step::Kind::kFold;
    const double stores = folds || nest.outer[s] ? once : 1;
    price += stores * PriceOf(step.place, lane, kStridedStore);
  }
  const auto size = static_cast<double>(nest.shape[lane]);
  constexpr double kLanes = 16;
  const double filled = size / (std::ceil(size / kLanes) * kLanes);
  return price / filled;
}

bool ReadsIndirectly(const Nest& nest) {
  bool indirect = false;
  for (const Step& step : nest.steps)
    VisitLoads(step.expr,
               [&](const Load& load, ExprType) { indirect = indirect || !load.indirect.empty(); });
  return indirect;
}

bool StoresApart(const Nest& nest, std::size_t lane) {
  return std::ranges::any_of(nest.steps, [lane](const Step& step) {
    return std::abs(step.place.factor[lane]) > kShuffled;
  });
}

// Places that depend on data along the last dimension leave vectors only other dimensions, along
// which they jump from line to line. Single values in the order of memory are faster then: the
// compiler sees a plain loop over the last dimension, in which it may gather.
void PreferMemoryOrder(Nest& nest) {
  constexpr std::int64_t kEnoughLines = 64;  // for threads to share
  const bool folds = std::ranges::find(nest.inner, true) != nest.inner.end();
  if (Elements(nest.shape) < kEnoughLines || folds || !ReadsIndirectly(nest)) return;
  if (nest.lane >= 0 && !StoresApart(nest, static_cast<std::size_t>(nest.lane))) return;
  nest.lane = -1;
  if (Elements(nest.shape) / nest.shape.back() >= kEnoughLines) nest.inner.back() = true;
}

}  // namespace

bool HasVectorForm(const Program& program, const Step& step, const Nest& nest, std::size_t lane) {
  const DType wanted = IsPosition(step) ? DType::kInt64 : DType::kFloat32;
  if (TypeOf(program, step.buffer) != wanted || step.expr->type != ExprType::kFloat) return false;
  const bool running = step.fold == Fold::kSum || step.fold == Fold::kProduct;
  if (step.kind == Step::Kind::kScan && !running) return false;
  return ExprHasVectorForm(program, step.expr, lane) && !nest.shape.empty();
}

void ChooseLane(const Program& program, Nest& nest) {
  std::optional<double> best;
  for (std::size_t i = 0; i < nest.shape.size(); ++i) {
    if (nest.shape[i] < kFewest) continue;
    const std::optional<double> price = PriceOf(program, nest, i);
    if (!price || (best && *best < *price)) continue;
    best = price;
    nest.lane = static_cast<int>(i);
  }
  PreferMemoryOrder(nest);
  if (std::ranges::find(nest.inner, true) == nest.inner.end() && nest.lane >= 0)
    nest.inner[static_cast<std::size_t>(nest.lane)] = true;
}

}  // namespace pragma::expert
