// Figures as people read them: a unit, and an interval wherever one is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/evaluation.h"
#include "core/trial.h"
#include "report/terminal.h"

namespace pragma {

// "1.23 ms [1.20, 1.27]": one unit for all three, three significant digits.
[[nodiscard]] std::string FormatMillis(const Interval& milliseconds);
// "1.84x [1.79, 1.90]"; "-" when unknown.
[[nodiscard]] std::string FormatSpeedup(const std::optional<Interval>& speedup);
// Green above 1, red below, plain when the interval holds 1.
[[nodiscard]] Style SpeedupStyle(const std::optional<Interval>& speedup);
// "12.3 s", "4m05s", "1h02m".
[[nodiscard]] std::string FormatElapsed(double seconds);
// "950", "12.3k", "1.2M".
[[nodiscard]] std::string FormatCount(std::int64_t count);
// "$0.012"; "-" for nothing (also: price unknown).
[[nodiscard]] std::string FormatMoney(double usd);
// "45 s, 12.3k tokens, $0.01".
[[nodiscard]] std::string FormatSpent(const Spent& spent);
[[nodiscard]] Style StatusStyle(Status status);

}  // namespace pragma
