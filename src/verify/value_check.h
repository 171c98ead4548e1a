// ValueCheck: is the kernel right? Secret sets of the task's own distribution, the same set again
// in the same and in a fresh process, then the batteries, everything against fp64 (docs/trust.md).
#pragma once

#include "base/result.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {

// Fills in checks, error figures and official verdict, or the rejection. An Error is our own
// trouble. The caller holds the machine's lock.
[[nodiscard]] Result<void> CheckValues(const JudgeParts& parts, Judging& judging,
                                       const VerifyProgress& progress);

// For tuners: the task's own input sets only, each once. Leaves the first in slot 0.
[[nodiscard]] Result<void> CheckNominal(const JudgeParts& parts, Judging& judging);
// A kernel of the same task on the set that CheckNominal left there.
[[nodiscard]] Result<void> CheckDrawn(const JudgeParts& parts, Judging& judging);

}  // namespace pragma
