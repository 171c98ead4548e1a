#include "core/metric_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace pragma {
namespace {

int ComparedPlace(const MetricDefinition& row) { return row.compared ? row.compared->place : 0; }

// Returns the rows with a place, in the order of their places.
template <class PlaceOf>
std::vector<const MetricDefinition*> Placed(const std::vector<MetricDefinition>& rows,
                                            PlaceOf place_of) {
  std::vector<const MetricDefinition*> placed;
  for (const MetricDefinition& row : rows) {
    if (place_of(row) > 0) placed.push_back(&row);
  }
  std::ranges::sort(placed, {}, [&](const MetricDefinition* row) { return place_of(*row); });
  return placed;
}

}  // namespace

Result<MetricTable> MetricTable::Make(std::vector<MetricDefinition> rows) {
  std::set<std::string_view> tags;
  std::set<int> prompts;
  std::set<int> comparisons;
  for (const MetricDefinition& row : rows) {
    const auto twice = [&row](std::string_view what) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("metric {}: another metric has this {}", row.tag, what));
    };
    if (!tags.insert(row.tag).second) return twice("tag");
    if (row.prompt > 0 && !prompts.insert(row.prompt).second) return twice("place in prompts");
    if (row.compared && !comparisons.insert(row.compared->place).second)
      return twice("place in comparisons");
  }
  MetricTable table;
  table.rows_ = std::move(rows);
  return table;
}

const MetricDefinition* MetricTable::Find(std::string_view tag) const {
  const auto found = std::ranges::find(rows_, tag, &MetricDefinition::tag);
  return found == rows_.end() ? nullptr : &*found;
}

std::vector<std::string> MetricTable::tags() const {
  std::vector<std::string> tags;
  for (const MetricDefinition& row : rows_) tags.push_back(row.tag);
  return tags;
}

std::vector<const MetricDefinition*> MetricTable::InPrompts() const {
  return Placed(rows_, [](const MetricDefinition& row) { return row.prompt; });
}

std::vector<const MetricDefinition*> MetricTable::Compared() const {
  return Placed(rows_, ComparedPlace);
}

}  // namespace pragma
