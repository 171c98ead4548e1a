// Formats figures for people: with a unit, and with an interval wherever one is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/spent.h"
#include "core/status.h"
#include "core/timing.h"
#include "report/terminal.h"

namespace pragma {

// Returns "1.23 ms [1.20, 1.27]": one unit for all three values, three significant digits.
[[nodiscard]] std::string FormatMillis(const Interval& milliseconds);
// Returns "1.84x [1.79, 1.90]", or "-" if unknown.
[[nodiscard]] std::string FormatSpeedup(const std::optional<Interval>& speedup);
// Returns that the speed-up of the search's best, measured again, contradicts the one that chose
// it. Empty: the intervals meet, or a figure is missing.
[[nodiscard]] std::string Disagreement(const std::optional<Interval>& search,
                                       const std::optional<Interval>& again);
// Green if the whole interval is above 1, red if it is below 1, plain if it contains 1.
[[nodiscard]] Style SpeedupStyle(const std::optional<Interval>& speedup);
// Returns "torch.compile", with its mode where that is not the usual one (empty or "default").
[[nodiscard]] std::string CompileText(const std::string& mode);
// Returns "12.3 s", "4m05s" or "1h02m".
[[nodiscard]] std::string FormatElapsed(double seconds);
// Returns "950", "12.3k" or "1.2M".
[[nodiscard]] std::string FormatCount(std::int64_t count);
// Returns "$0.012", or "-" for zero (also if the price is unknown).
[[nodiscard]] std::string FormatMoney(double usd);
// Returns "45 s, 12.3k tokens, $0.01".
[[nodiscard]] std::string FormatSpent(const Spent& spent);
[[nodiscard]] Style StatusStyle(Status status);

}  // namespace pragma
