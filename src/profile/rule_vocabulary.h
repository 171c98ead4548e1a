// The words that rules may use besides the tags of metrics: bottleneck classes and formats. A test
// compares the classes with docs/design.md.
#pragma once

#include <string>
#include <vector>

namespace pragma {

[[nodiscard]] const std::vector<std::string>& CpuBottlenecks();
[[nodiscard]] const std::vector<std::string>& GpuBottlenecks();
[[nodiscard]] const std::vector<std::string>& EvidenceFormats();

}  // namespace pragma
