// TimingCheck: how fast is the kernel, and is that plausible? Runs paired timing against eager, the
// present best and torch.compile, and compares the result with the bounds of the machine
// (docs/measuring.md).
#pragma once

#include "base/result.h"
#include "build/builder.h"
#include "verify/executor.h"
#include "verify/options.h"

namespace pragma {

struct Judging;

// What a candidate is timed against besides eager.
struct TimingWish {
  const BuiltKernel* best = nullptr;  // the present best; nullptr: there is none
  bool compile = false;               // torch.compile, where all sides share one session
};

// Times a kernel that was found right, and fills in times, ratios and bound, or the rejection.
[[nodiscard]] Result<void> TimeKernel(Executor& executor, Judging& judging, const TimingWish& wish,
                                      const VerifyProgress& progress);
// Times the kernel against torch.compile, where that has a session of its own. Call it after
// TimeKernel.
[[nodiscard]] Result<void> TimeCompiled(Executor& executor, Judging& judging,
                                        const VerifyProgress& progress);

}  // namespace pragma
