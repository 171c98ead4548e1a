// MetricTable: what the tags of a profile mean, and where each is shown. Its rows are data
// (knowledge/metrics/). It is loaded once and handed down as a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

// Whether a kernel improves when the value falls or when it rises. kNeither: it says nothing alone.
enum class Better : std::uint8_t { kNeither, kLow, kHigh };
enum class FigureKind : std::uint8_t { kTime, kCount, kRatio };

// How two versions are compared by a metric.
struct MetricComparison {
  int place = 0;      // in the list of differences, 1 first
  std::string words;  // the metric's name in a sentence: "L1 misses"
  FigureKind kind = FigureKind::kCount;
  double cycles = 0;  // the most that one event of a count may cost
};

struct MetricDefinition {
  std::string tag;
  std::string unit;
  std::string meaning;
  bool percent = false;  // a share from 0 to 1, which is printed in percent
  Better better = Better::kNeither;
  int prompt = 0;              // place among the metrics that models are shown; 0: on request only
  bool report = false;         // `pragma profile` prints it without being asked
  bool quiet_at_zero = false;  // zero says nothing, so models are not shown it
  std::optional<MetricComparison> compared;
};

class MetricTable final {
 public:
  // A table without rows: every metric is unknown, and none is shown by default.
  MetricTable() = default;
  // It is an error if a tag or a place occurs twice.
  [[nodiscard]] static Result<MetricTable> Make(std::vector<MetricDefinition> rows);

  [[nodiscard]] const std::vector<MetricDefinition>& rows() const { return rows_; }
  [[nodiscard]] const MetricDefinition* Find(std::string_view tag) const;  // nullptr: unknown
  [[nodiscard]] std::vector<std::string> tags() const;
  // Return rows of this table, by their places.
  [[nodiscard]] std::vector<const MetricDefinition*> InPrompts() const;
  [[nodiscard]] std::vector<const MetricDefinition*> Compared() const;

 private:
  std::vector<MetricDefinition> rows_;
};

}  // namespace pragma
