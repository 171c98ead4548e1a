// The words that rules may use: metric tags and bottleneck classes. A test compares them with
// docs/metrics.md and docs/design.md.
#pragma once

#include <string>
#include <vector>

namespace pragma {

[[nodiscard]] const std::vector<std::string>& KnownMetricTags();
[[nodiscard]] const std::vector<std::string>& CpuBottlenecks();
[[nodiscard]] const std::vector<std::string>& GpuBottlenecks();
[[nodiscard]] const std::vector<std::string>& EvidenceFormats();

}  // namespace pragma
