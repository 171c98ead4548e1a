// CallTiming: what a user gains who calls ModelNew instead of Model (Evaluation::call). The clock,
// the inputs and the comparison are outside the timed process, as always. Unlike other sessions,
// the copy of what a call returned is not timed, and arguments are close to the processors
// (docs/measuring.md).
#pragma once

#include "base/result.h"
#include "verify/executor.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {

// Times a ModelNew that was found right, and fills in Evaluation::call, or the rejection.
// `compile`: torch.compile is timed as well, and the faster Torch side is the baseline.
[[nodiscard]] Result<void> TimeCalls(Executor& executor, Judging& judging, bool compile,
                                     const VerifyProgress& progress);

}  // namespace pragma
