#include "cli/time_limit.h"

#include <fmt/format.h>

#include <optional>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/interrupt.h"
#include "base/result.h"

namespace pragma {
namespace {

// The part of the time after which a command is stopped. What is left up to a fifth is for ending
// processes and for writing what was found.
constexpr double kStopped = 1.08;

}  // namespace

Deadline StartClock(double seconds) {
  if (seconds <= 0) return {};
  const Deadline deadline = Deadline::In(Seconds{seconds});
  StopAt(After(Seconds{seconds * kStopped}));
  return deadline;
}

std::optional<Error> TimeWasUp(const Result<int>& ended, double seconds) {
  if (ended || ended.error().kind != ErrorKind::kInterrupted || !TimeIsUp()) return std::nullopt;
  return Error{.kind = ErrorKind::kTimeUp,
               .message = fmt::format("the time of {:g} s was up before a kernel was judged ({}); "
                                      "give it more: --time",
                                      seconds, ended.error().message)};
}

}  // namespace pragma
