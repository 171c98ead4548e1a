// The metrics of docs/metrics.md, "Work", from what was counted.
#pragma once

#include <vector>

#include "build/instruction_mix.h"
#include "core/profile.h"

namespace pragma {

// Without those that need the task (task_flops, arithmetic_intensity), and without ratios to a
// count that is zero.
[[nodiscard]] std::vector<Metric> WorkMetrics(const Work& work);

}  // namespace pragma
