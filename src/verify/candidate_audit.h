// A second look at a result that seems too good: every check and the timing are repeated with new
// seeds in fresh processes. Private to verify/.
#pragma once

#include <functional>

#include "base/result.h"
#include "core/task.h"
#include "machine/machine.h"
#include "verify/options.h"

namespace pragma {

struct Judging;

// How a candidate is checked and timed again. Each function takes the machine's lock when it needs
// it.
struct Judges {
  std::function<Result<void>(Judging&)> check;
  std::function<Result<void>(Judging&)> time;
};

struct AuditSubject {
  const Task& task;
  const Machine& machine;
};

// Does nothing where the figures do not call for an audit. Otherwise keeps the slower of the two
// results, or the rejection.
[[nodiscard]] Result<void> AuditCandidate(const AuditSubject& subject, const Judges& judges,
                                          Judging& judging, const VerifyProgress& progress);

}  // namespace pragma
