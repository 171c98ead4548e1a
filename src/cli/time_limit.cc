#include "cli/time_limit.h"

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/result.h"
#include "cli/command.h"
#include "report/json_text.h"

namespace pragma {
namespace {

// The part of the time after which a command is stopped. What is left up to a fifth is for ending
// processes and for writing what was found.
constexpr double kStopped = 1.08;

// Returns why a command has found nothing, if it ended because its time was up.
std::optional<Error> TimeWasUp(const Result<int>& ended, double seconds) {
  if (ended || ended.error().kind != ErrorKind::kInterrupted || !TimeIsUp()) return std::nullopt;
  return Error{.kind = ErrorKind::kTimeUp,
               .message = fmt::format("the time of {:g} s was up before a kernel was judged ({}); "
                                      "give it more: --time",
                                      seconds, ended.error().message)};
}

}  // namespace

Deadline StartClock(double seconds) {
  if (seconds <= 0) return {};
  const Deadline deadline = Deadline::In(Seconds{seconds});
  StopAt(After(Seconds{seconds * kStopped}));
  return deadline;
}

Result<int> RunInTime(const Context& context, double seconds,
                      const std::function<Result<int>(const Deadline&)>& command) {
  Result<int> code = command(StartClock(seconds));
  const std::optional<Error> late = TimeWasUp(code, seconds);
  if (!late) return code;
  context.console.PrintJson(FailureObject(*late));
  Log(LogLevel::kError, late->message);
  return kExitRejected;
}

}  // namespace pragma
