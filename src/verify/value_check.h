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

}  // namespace pragma
