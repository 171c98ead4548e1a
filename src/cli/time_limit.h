// The clock of a command that was given a time (--time).
#pragma once

#include <optional>

#include "base/deadline.h"
#include "base/result.h"

namespace pragma {

// Starts the clock and returns when the time is up. 0 seconds: there is no limit. What is under way
// shortly after that is told to stop, as if the user had interrupted it.
[[nodiscard]] Deadline StartClock(double seconds);

// Returns why a command has found nothing, if it ended because its time was up.
[[nodiscard]] std::optional<Error> TimeWasUp(const Result<int>& ended, double seconds);

}  // namespace pragma
