// Statistics of paired timings. The unit of noise is the process, not the call.
#pragma once

#include <span>
#include <vector>

#include "core/evaluation.h"

namespace pragma {

// Of a non-empty list; the mean of the two middle values for an even count.
[[nodiscard]] double Median(std::span<const double> values);

// Upper 97.5 % quantile of Student's t with `degrees` >= 1 degrees of freedom.
[[nodiscard]] double StudentT975(int degrees);

// exp of the mean of the values with a 95 % t interval over them: `logs` holds one logarithm per
// process. One value alone has no interval: low = 0, high = infinity.
[[nodiscard]] Interval GeometricInterval(std::span<const double> logs);

}  // namespace pragma
