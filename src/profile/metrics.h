// MetricSet: metrics by tag. For each tag the value from the best available source is kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile.h"

namespace pragma {

class MetricSet final {
 public:
  // Adds a metric. A value that is not a finite number is dropped. A value from a worse source does
  // not replace one from a better source.
  void Add(Metric metric);
  void Add(std::string tag, double value, std::string unit, std::string source);
  [[nodiscard]] std::optional<double> Get(std::string_view tag) const;
  // Returns the metrics in the order in which they were first added.
  [[nodiscard]] std::vector<Metric> Take() &&;

 private:
  std::vector<Metric> metrics_;
};

}  // namespace pragma
