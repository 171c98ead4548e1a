#include "verify/battery_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/task.h"
#include "verify/batteries.h"
#include "verify/comparator.h"

namespace pragma {
namespace {

// Where Torch's own result is further off than this, nobody can be held against the truth.
constexpr double kTellable = 0.05;
constexpr double kTellable16Bit = 0.5;

// Where a few values are far larger than the rest, honest algorithms that mix neighbours
// (Winograd's transforms, sums shifted by one element) carry rounding errors of the large ones to
// the small ones. Still far below what a lower precision does (2^-9 of bf16).
constexpr double kRangeFactor = 30;
constexpr double kMostOfRange = 1e-3;

}  // namespace

double Tellable(DType dtype) {
  const bool small = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  return small ? kTellable16Bit : kTellable;
}

Tolerance ForRange(const Tolerance& tolerance, double peak_over_rms) {
  Tolerance wide = tolerance;
  wide.rel_l2 = std::max(tolerance.rel_l2, std::min(tolerance.rel_l2 * kRangeFactor, kMostOfRange));
  wide.rel = std::max(tolerance.rel, std::min(tolerance.rel * kRangeFactor, kMostOfRange)) *
             std::max(peak_over_rms, 1.0);
  return wide;
}

bool SpansRange(Battery battery) {
  return battery == Battery::kWide || battery == Battery::kHeavyTails;
}

bool TiesAreDecided(const Task& task) {
  const bool floating = std::ranges::all_of(
      task.outputs, [](const TensorSpec& output) { return IsFloating(output.dtype); });
  if (floating) return true;
  return std::ranges::all_of(task.graph, [](const GraphNode& node) {
    return node.op.starts_with("aten.argm") || !node.op.starts_with("aten.") ||
           !std::ranges::any_of(node.results,
                                [](const TensorSpec& result) { return !IsFloating(result.dtype); });
  });
}

double RoundingSize(const Task& task) {
  const auto length = static_cast<double>(std::max<std::int64_t>(task.reduction_length, 1));
  const double sums = std::numeric_limits<float>::epsilon() / 2 * std::sqrt(length);
  // Torch rounds what lies between two operators to the task's type.
  double type = 0;
  for (const TensorSpec& output : task.outputs) {
    if (output.dtype == DType::kBFloat16) type = std::max(type, 0x1.0p-9);
    if (output.dtype == DType::kFloat16) type = std::max(type, 0x1.0p-12);
  }
  return std::max(sums, type);
}

}  // namespace pragma
