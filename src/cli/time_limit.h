// The clock of a command that was given a time (--time).
#pragma once

#include <functional>

#include "base/deadline.h"
#include "base/result.h"
#include "cli/command.h"

namespace pragma {

// Starts the clock and returns when the time is up. 0 seconds: there is no limit. What is under way
// shortly after that is told to stop, as if the user had interrupted it.
[[nodiscard]] Deadline StartClock(double seconds);

// Runs a command within its time and returns its exit code. If it ended because the time was up
// before anything was found, that is printed.
[[nodiscard]] Result<int> RunInTime(const Context& context, double seconds,
                                    const std::function<Result<int>(const Deadline&)>& command);

}  // namespace pragma
