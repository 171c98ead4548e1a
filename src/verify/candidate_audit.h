// A second look at what seems too good: everything once more, with new seeds in fresh processes.
// Private to verify/.
#pragma once

#include <functional>

#include "base/result.h"
#include "core/task.h"
#include "machine/machine.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {

// How a candidate is checked and timed once more; each takes the machine's lock as it needs it.
struct Judges {
  std::function<Result<void>(Judging&)> check;
  std::function<Result<void>(Judging&)> time;
};

struct AuditSubject {
  const Task& task;
  const Machine& machine;
};

// Nothing where the figures ask for none. Else the slower of the two results stands, or the
// rejection.
[[nodiscard]] Result<void> AuditCandidate(const AuditSubject& subject, const Judges& judges,
                                          Judging& judging, const VerifyProgress& progress);

}  // namespace pragma
