#include "profile/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/profile.h"

namespace pragma {
namespace {

constexpr std::array<std::string_view, 7> kSources{
    "pmu", "exact count", "measured", "simulated", "sampled", "static", "estimated"};

// Ranks the sources of metrics. A lower rank is better.
int SourceRank(std::string_view source) {
  return static_cast<int>(std::ranges::find(kSources, source) - kSources.begin());
}

}  // namespace

void MetricSet::Add(Metric metric) {
  if (!std::isfinite(metric.value)) return;
  const auto found = std::ranges::find(metrics_, metric.tag, &Metric::tag);
  if (found == metrics_.end()) {
    metrics_.push_back(std::move(metric));
  } else if (SourceRank(metric.source) < SourceRank(found->source)) {
    *found = std::move(metric);
  }
}

void MetricSet::Add(std::string tag, double value, std::string unit, std::string source) {
  Add({.tag = std::move(tag),
       .value = value,
       .unit = std::move(unit),
       .source = std::move(source)});
}

std::optional<double> MetricSet::Get(std::string_view tag) const {
  const auto found = std::ranges::find(metrics_, tag, &Metric::tag);
  return found == metrics_.end() ? std::nullopt : std::optional(found->value);
}

std::vector<Metric> MetricSet::Take() && { return std::move(metrics_); }

}  // namespace pragma
