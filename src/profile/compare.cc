#include "profile/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "core/profile.h"

namespace pragma {
namespace {

// Times whose ratio is below this are called the same.
constexpr double kSameTime = 1.03;
// A count or ratio that changed by less than this factor gets the verdict "same".
constexpr double kSameFigure = 1.02;
// A count is named as changing with the time only if its change could account for this share of the
// changed cycles.
constexpr double kMaterial = 0.1;

enum class Better : std::uint8_t { kLess, kMore, kNeither };
enum class Kind : std::uint8_t { kTime, kCount, kRatio };

// A metric that is compared, in the order shown. `cycles` is what one event may cost.
struct Figure {
  std::string_view tag;
  std::string_view words;
  Kind kind;
  Better better;
  double cycles;
};

constexpr std::array kFigures{
    Figure{"time_ms", "the time", Kind::kTime, Better::kLess, 0},
    Figure{"wall_1_ms", "the time of one thread", Kind::kTime, Better::kLess, 0},
    Figure{"instructions", "instructions", Kind::kCount, Better::kLess, 0.5},
    Figure{"cycles", "cycles", Kind::kTime, Better::kLess, 0},
    Figure{"loads", "loads", Kind::kCount, Better::kLess, 0.5},
    Figure{"stores", "stores", Kind::kCount, Better::kLess, 1},
    Figure{"l1_misses", "L1 misses", Kind::kCount, Better::kLess, 14},
    Figure{"l2_misses", "L2 misses", Kind::kCount, Better::kLess, 50},
    Figure{"l3_misses", "L3 misses", Kind::kCount, Better::kLess, 400},
    Figure{"dtlb2_misses", "page walks", Kind::kCount, Better::kLess, 60},
    Figure{"line_splits", "line splits", Kind::kCount, Better::kLess, 1},
    Figure{"branch_mispredicts", "branch mispredictions", Kind::kCount, Better::kLess, 20},
    Figure{"branch_misses", "branch mispredictions", Kind::kCount, Better::kLess, 20},
    Figure{"libm_elements", "elements in calls of the math library", Kind::kCount, Better::kLess,
           20},
    Figure{"division_count", "divisions and roots", Kind::kCount, Better::kLess, 12},
    Figure{"shuffle_count", "shuffles", Kind::kCount, Better::kLess, 1},
    Figure{"conversion_count", "type conversions", Kind::kCount, Better::kLess, 2},
    Figure{"gather_count", "gathers", Kind::kCount, Better::kLess, 30},
    Figure{"atomic_count", "locked instructions", Kind::kCount, Better::kLess, 100},
    Figure{"page_faults", "page faults", Kind::kCount, Better::kLess, 8000},
    Figure{"parallel_regions", "parallel regions", Kind::kCount, Better::kLess, 20000},
    Figure{"vector_share", "the vector share", Kind::kRatio, Better::kMore, 0},
    Figure{"roofline_share", "the share of the bound", Kind::kRatio, Better::kMore, 0},
    Figure{"thread_scaling", "thread scaling", Kind::kRatio, Better::kMore, 0},
    Figure{"ipc", "IPC", Kind::kRatio, Better::kNeither, 0},
};

std::string Number(const Figure& figure, double value) {
  if (figure.tag.ends_with("_ms")) return FormatSeconds(value / 1e3);
  if (figure.kind == Kind::kRatio)
    return figure.tag == "ipc" ? fmt::format("{:.2f}", value)
                               : fmt::format("{:.3g} %", 100 * value);
  return FormatCount(value);
}

bool Same(double before, double after, double tolerance) {
  const double low = std::min(before, after);
  const double high = std::max(before, after);
  return high <= low * tolerance;
}

std::string VerdictOf(const Figure& figure, double before, double after) {
  const double tolerance = figure.kind == Kind::kTime ? kSameTime : kSameFigure;
  if (figure.better == Better::kNeither || Same(before, after, tolerance)) return "same";
  return (after < before) == (figure.better == Better::kLess) ? "improved" : "regressed";
}

std::string Times(double before, double after) {
  if (before == 0 || after == 0) return {};
  return fmt::format(" ({:.3g}x)", after / before);
}

std::string StatementOf(const Figure& figure, double before, double after) {
  const std::string first = Number(figure, before);
  const std::string second = Number(figure, after);
  const double tolerance = figure.kind == Kind::kTime ? kSameTime : kSameFigure;
  if (Same(before, after, tolerance) || first == second)
    return fmt::format("{} stayed at {}", figure.words, second);
  return fmt::format("{} {} from {} to {}{}", figure.words, after < before ? "fell" : "rose", first,
                     second, figure.kind == Kind::kCount ? Times(before, after) : "");
}

std::optional<MetricDifference> DifferenceOf(const Figure& figure, const Profile& before,
                                             const Profile& after) {
  const Metric* first = before.Find(figure.tag);
  const Metric* second = after.Find(figure.tag);
  if (first == nullptr || second == nullptr) return std::nullopt;
  if (!std::isfinite(first->value) || !std::isfinite(second->value)) return std::nullopt;
  return MetricDifference{.tag = std::string(figure.tag),
                          .before = first->value,
                          .after = second->value,
                          .factor = first->value != 0 ? second->value / first->value : 0,
                          .verdict = VerdictOf(figure, first->value, second->value),
                          .statement = StatementOf(figure, first->value, second->value)};
}

const Figure& FigureOf(std::string_view tag) {
  return *std::ranges::find(kFigures, tag, &Figure::tag);
}

const MetricDifference* Find(const ProfileComparison& comparison, std::string_view tag) {
  const auto found = std::ranges::find(comparison.differences, tag, &MetricDifference::tag);
  return found == comparison.differences.end() ? nullptr : &*found;
}

// Returns the factor by which the figure rose or fell, for ranking. A count that vanished ranks
// highest.
double Change(const MetricDifference& difference) {
  const double low = std::min(difference.before, difference.after) + 1;
  return (std::max(difference.before, difference.after) + 1) / low;
}

// Returns true if the change could account for a notable part of the changed cycles.
bool Material(const ProfileComparison& comparison, const MetricDifference& difference) {
  const MetricDifference* cycles = Find(comparison, "cycles");
  if (cycles == nullptr) return true;
  const double cost =
      std::abs(difference.after - difference.before) * FigureOf(difference.tag).cycles;
  return cost >= kMaterial * std::abs(cycles->after - cycles->before);
}

// Returns the count that changed most in the direction of the time.
const MetricDifference* Ground(const ProfileComparison& comparison) {
  const MetricDifference* best = nullptr;
  for (const MetricDifference& difference : comparison.differences) {
    if (FigureOf(difference.tag).kind != Kind::kCount) continue;
    if (difference.verdict != comparison.verdict || !Material(comparison, difference)) continue;
    if (best == nullptr || Change(difference) > Change(*best)) best = &difference;
  }
  return best;
}

const MetricDifference* TimeOf(const ProfileComparison& comparison) {
  const MetricDifference* time = Find(comparison, "time_ms");
  return time != nullptr ? time : Find(comparison, "wall_1_ms");
}

// Warns about an IPC that moved in the opposite direction, because it would mislead a reader.
std::string IpcWarning(const ProfileComparison& comparison) {
  const MetricDifference* ipc = Find(comparison, "ipc");
  if (ipc == nullptr || Same(ipc->before, ipc->after, kSameFigure)) return {};
  const bool rose = ipc->after > ipc->before;
  if (rose == (comparison.verdict == "improved")) return {};
  return fmt::format("; {}, which does not measure speed when the instructions differ",
                     ipc->statement);
}

std::string Summary(const ProfileComparison& comparison, const MetricDifference& time) {
  if (comparison.verdict == "same") return "the same by time: " + time.statement;
  const double factor = time.after > 0 ? time.before / time.after : 0;
  std::string text =
      fmt::format("{} by time: {} (speedup {:.2f})", comparison.verdict, time.statement, factor);
  if (const MetricDifference* ground = Ground(comparison)) {
    text += "; what changed most with it: " + ground->statement;
  } else {
    text += "; no count changed with it";
  }
  return text + IpcWarning(comparison);
}

}  // namespace

ProfileComparison CompareProfiles(const Profile& before, const Profile& after) {
  ProfileComparison comparison{.verdict = "unknown"};
  for (const Figure& figure : kFigures) {
    if (auto difference = DifferenceOf(figure, before, after))
      comparison.differences.push_back(*std::move(difference));
  }
  const MetricDifference* time = TimeOf(comparison);
  if (time == nullptr) {
    comparison.statement = "the times are not both known";
    return comparison;
  }
  comparison.verdict = time->verdict;
  comparison.statement = Summary(comparison, *time);
  return comparison;
}

}  // namespace pragma
