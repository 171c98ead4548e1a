// Statistics of paired timings. The unit of noise is the process, not the call.
#pragma once

#include <span>
#include <vector>

#include "core/timing.h"

namespace pragma {

// Returns the median of a non-empty list. For an even count this is the mean of the two middle
// values.
[[nodiscard]] double Median(std::span<const double> values);

// Returns the upper 97.5 % quantile of Student's t with `degrees` >= 1 degrees of freedom.
[[nodiscard]] double StudentT975(int degrees);

// Returns exp of the mean of `logs`, with a 95 % t interval. `logs` holds one logarithm per
// process. A single value has no interval: low = 0, high = infinity.
[[nodiscard]] Interval GeometricInterval(std::span<const double> logs);

}  // namespace pragma
