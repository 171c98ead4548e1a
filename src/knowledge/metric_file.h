// Reads the definitions of metrics: the [[metric]] tables of knowledge/metrics/*.toml.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/metric_table.h"

namespace pragma {

// Errors are one line with file and field.
[[nodiscard]] Result<std::vector<MetricDefinition>> ParseMetrics(std::string_view toml,
                                                                 const std::string& name);
// Reads all files of metrics/ in `folder`, the compendium's. The first invalid file is the error.
[[nodiscard]] Result<MetricTable> LoadMetrics(const std::filesystem::path& folder);

}  // namespace pragma
