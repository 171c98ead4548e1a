// MetricSet: metrics by tag, each kept from the best source there was.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile.h"

namespace pragma {

class MetricSet final {
 public:
  // A value that is no finite number is dropped; a worse source does not replace a better one.
  void Add(Metric metric);
  void Add(std::string tag, double value, std::string unit, std::string source);
  [[nodiscard]] std::optional<double> Get(std::string_view tag) const;
  // In the order of their first arrival.
  [[nodiscard]] std::vector<Metric> Take() &&;

 private:
  std::vector<Metric> metrics_;
};

}  // namespace pragma
