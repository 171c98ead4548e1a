// TimingCheck: how fast is the kernel, and is that plausible? Runs paired timing against eager, the
// present best and torch.compile, and compares the result with the bounds of the machine
// (docs/measuring.md).
#pragma once

#include <optional>

#include "base/result.h"
#include "build/builder.h"
#include "task/torch_server.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {

// Figures of a task that are worth keeping between runs. cli or search hands them to the store.
struct TaskBaseline {
  Allocator eager = Allocator::kDefault;  // the faster setting for eager
  double eager_ms = 0;
  std::optional<Allocator> compile;  // the faster setting for torch.compile, once measured
};

// Times a kernel that was found right, and fills in times, ratios and bound, or the rejection.
// `best` is the present best, which is timed against as well, or nullptr. `baseline` is completed
// on the way.
[[nodiscard]] Result<void> TimeKernel(const JudgeParts& parts, Judging& judging,
                                      const BuiltKernel* best,
                                      std::optional<TaskBaseline>& baseline,
                                      const VerifyProgress& progress);

// Times the kernel against torch.compile. Call it after TimeKernel.
[[nodiscard]] Result<void> TimeCompiled(const JudgeParts& parts, Judging& judging,
                                        std::optional<TaskBaseline>& baseline,
                                        const VerifyProgress& progress);

}  // namespace pragma
