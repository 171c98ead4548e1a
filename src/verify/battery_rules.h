// What holds for every battery, wherever its set lies: how outputs are judged on it, and when it is
// left out.
#pragma once

#include "core/task.h"
#include "verify/batteries.h"
#include "verify/comparator.h"

namespace pragma {

// Where Torch's own result is further off than this, nobody can be held against the truth.
[[nodiscard]] double Tellable(DType dtype);
[[nodiscard]] bool SpansRange(Battery battery);
// For outputs of a battery that spans a range. `peak_over_rms`: of the truth.
[[nodiscard]] Tolerance ForRange(const Tolerance& tolerance, double peak_over_rms);
// Only where the index that is meant among equal elements is documented: the first.
[[nodiscard]] bool TiesAreDecided(const Task& task);
// Relative size of what a running sum in fp32 does to its terms: eps / 2 for each rounding, and
// random ones grow with the square root of their number.
[[nodiscard]] double RoundingSize(const Task& task);

}  // namespace pragma
