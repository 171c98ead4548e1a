// Formats a profile for people: diagnosis, a drawing of the roofline, hot lines with their source,
// metrics.
#pragma once

#include <string>
#include <vector>

#include "core/metric_table.h"
#include "core/profile.h"
#include "report/terminal.h"

namespace pragma {

struct ProfileTextOptions {
  std::vector<std::string> extra_metrics;  // tags to show in addition to the default ones
  bool all_metrics = false;
};

// The table says which metrics are shown by default.
[[nodiscard]] std::string ProfileText(const Terminal& terminal, const Profile& profile,
                                      const MetricTable& metrics,
                                      const ProfileTextOptions& options = {});

// Returns a metric's value with its unit in readable form: "93.1 M", "0.34", "12.3 ms", "41 %".
[[nodiscard]] std::string FormatMetric(const Metric& metric, const MetricTable& metrics);

}  // namespace pragma
