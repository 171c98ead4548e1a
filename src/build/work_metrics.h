// Computes the metrics of docs/metrics.md, "Work", from the counted work.
#pragma once

#include <vector>

#include "build/instruction_mix.h"
#include "core/profile.h"

namespace pragma {

// Returns the metrics except those that need the task (task_flops, arithmetic_intensity) and ratios
// to a count of zero.
[[nodiscard]] std::vector<Metric> WorkMetrics(const Work& work);

}  // namespace pragma
