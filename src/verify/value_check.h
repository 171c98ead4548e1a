// ValueCheck: is the kernel right? It runs secret sets of the task's own distribution, then the
// same set again in the same and in a fresh process, then the batteries, and looks for state.
// Everything is compared with fp64 (docs/trust.md).
#pragma once

#include "base/result.h"
#include "verify/checked_calls.h"
#include "verify/input_sets.h"
#include "verify/options.h"

namespace pragma {

struct Judging;

// What a check needs. References are borrowed.
struct CheckParts {
  InputSets& sets;
  CheckedCalls& calls;
  const VerifyOptions& options;
};

// Fills in checks, error figures and the official verdict, or the rejection. An Error is pragma's
// own failure. The caller holds the machine's lock.
[[nodiscard]] Result<void> CheckValues(const CheckParts& parts, Judging& judging,
                                       const VerifyProgress& progress);

// For tuners: checks the task's own input sets only, each once. The first set remains in slot 0.
[[nodiscard]] Result<void> CheckNominal(const CheckParts& parts, Judging& judging);
// Checks a kernel of the same task on the set that CheckNominal left in slot 0.
[[nodiscard]] Result<void> CheckDrawn(const CheckParts& parts, Judging& judging);

}  // namespace pragma
