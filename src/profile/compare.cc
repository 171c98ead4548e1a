#include "profile/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "core/metric_table.h"
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

std::string Number(const MetricDefinition& figure, double value) {
  if (figure.tag.ends_with("_ms")) return FormatSeconds(value / 1e3);
  if (figure.compared->kind == FigureKind::kRatio)
    return figure.tag == "ipc" ? fmt::format("{:.2f}", value)
                               : fmt::format("{:.3g} %", 100 * value);
  return FormatCount(value);
}

bool Same(double before, double after, double tolerance) {
  const double low = std::min(before, after);
  const double high = std::max(before, after);
  return high <= low * tolerance;
}

std::string VerdictOf(const MetricDefinition& figure, double before, double after) {
  const double tolerance = figure.compared->kind == FigureKind::kTime ? kSameTime : kSameFigure;
  if (figure.better == Better::kNeither || Same(before, after, tolerance)) return "same";
  return (after < before) == (figure.better == Better::kLow) ? "improved" : "regressed";
}

std::string Times(double before, double after) {
  if (before == 0 || after == 0) return {};
  return fmt::format(" ({:.3g}x)", after / before);
}

std::string StatementOf(const MetricDefinition& figure, double before, double after) {
  const std::string first = Number(figure, before);
  const std::string second = Number(figure, after);
  const double tolerance = figure.compared->kind == FigureKind::kTime ? kSameTime : kSameFigure;
  if (Same(before, after, tolerance) || first == second)
    return fmt::format("{} stayed at {}", figure.compared->words, second);
  return fmt::format("{} {} from {} to {}{}", figure.compared->words,
                     after < before ? "fell" : "rose", first, second,
                     figure.compared->kind == FigureKind::kCount ? Times(before, after) : "");
}

std::optional<MetricDifference> DifferenceOf(const MetricDefinition& figure, const Profile& before,
                                             const Profile& after) {
  const Metric* first = before.Find(figure.tag);
  const Metric* second = after.Find(figure.tag);
  if (first == nullptr || second == nullptr) return std::nullopt;
  if (!std::isfinite(first->value) || !std::isfinite(second->value)) return std::nullopt;
  return MetricDifference{.tag = figure.tag,
                          .before = first->value,
                          .after = second->value,
                          .factor = first->value != 0 ? second->value / first->value : 0,
                          .verdict = VerdictOf(figure, first->value, second->value),
                          .statement = StatementOf(figure, first->value, second->value)};
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
bool Material(const ProfileComparison& comparison, const MetricDifference& difference,
              double cycles_each) {
  const MetricDifference* cycles = Find(comparison, "cycles");
  if (cycles == nullptr) return true;
  const double cost = std::abs(difference.after - difference.before) * cycles_each;
  return cost >= kMaterial * std::abs(cycles->after - cycles->before);
}

// Returns the count that changed most in the direction of the time.
const MetricDifference* Ground(const ProfileComparison& comparison, const MetricTable& metrics) {
  const MetricDifference* best = nullptr;
  for (const MetricDifference& difference : comparison.differences) {
    const MetricComparison& figure = *metrics.Find(difference.tag)->compared;
    if (figure.kind != FigureKind::kCount || difference.verdict != comparison.verdict) continue;
    if (!Material(comparison, difference, figure.cycles)) continue;
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

std::string Summary(const ProfileComparison& comparison, const MetricDifference& time,
                    const MetricTable& metrics) {
  if (comparison.verdict == "same") return "the same by time: " + time.statement;
  const double factor = time.after > 0 ? time.before / time.after : 0;
  std::string text =
      fmt::format("{} by time: {} (speedup {:.2f})", comparison.verdict, time.statement, factor);
  if (const MetricDifference* ground = Ground(comparison, metrics)) {
    text += "; what changed most with it: " + ground->statement;
  } else {
    text += "; no count changed with it";
  }
  return text + IpcWarning(comparison);
}

}  // namespace

ProfileComparison CompareProfiles(const MetricTable& metrics, const Profile& before,
                                  const Profile& after) {
  ProfileComparison comparison{.verdict = "unknown"};
  for (const MetricDefinition* figure : metrics.Compared()) {
    if (auto difference = DifferenceOf(*figure, before, after))
      comparison.differences.push_back(*std::move(difference));
  }
  const MetricDifference* time = TimeOf(comparison);
  if (time == nullptr) {
    comparison.statement = "the times are not both known";
    return comparison;
  }
  comparison.verdict = time->verdict;
  comparison.statement = Summary(comparison, *time, metrics);
  return comparison;
}

}  // namespace pragma
