#include "core/statistics.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "core/timing.h"

namespace pragma {

double Median(std::span<const double> values) {
  assert(!values.empty());
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double RelativeWidth(const Interval& interval) {
  if (!(interval.low > 0)) return std::numeric_limits<double>::infinity();
  return interval.high / interval.low - 1;
}

bool Overlap(const Interval& a, const Interval& b) { return a.low <= b.high && b.low <= a.high; }

double StudentT975(int degrees) {
  // The quantiles are those of any statistics text. Beyond them, the normal quantile is used with
  // Fisher's two corrections.
  constexpr std::array<double, 15> kQuantiles{12.706, 4.303, 3.182, 2.776, 2.571,
                                              2.447,  2.365, 2.306, 2.262, 2.228,
                                              2.201,  2.179, 2.160, 2.145, 2.131};
  const auto index = static_cast<std::size_t>(std::max(degrees, 1)) - 1;
  if (index < kQuantiles.size()) return kQuantiles.at(index);
  constexpr double kNormal = 1.959964;
  constexpr double kFirst = 2.372;   // (z^3 + z) / 4
  constexpr double kSecond = 2.823;  // (5 z^5 + 16 z^3 + 3 z) / 96
  return kNormal + kFirst / degrees + kSecond / (static_cast<double>(degrees) * degrees);
}

Interval GeometricInterval(std::span<const double> logs) {
  const auto n = static_cast<double>(logs.size());
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / n;
  if (logs.size() < 2) return {std::exp(mean), 0, std::numeric_limits<double>::infinity()};
  double squares = 0;
  for (const double value : logs) squares += (value - mean) * (value - mean);
  const double half =
      StudentT975(static_cast<int>(logs.size()) - 1) * std::sqrt(squares / (n - 1) / n);
  return {std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

}  // namespace pragma
