// TimingCheck: how fast is the kernel, and can that be? Paired timing against eager, the present
// best and torch.compile, held against the bounds of the machine (docs/measuring.md).
#pragma once

#include <optional>

#include "base/result.h"
#include "build/builder.h"
#include "task/torch_server.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {

// What is worth keeping of a task between runs: cli or search hands it to the store.
struct TaskBaseline {
  Allocator eager = Allocator::kDefault;  // the faster setting for eager
  double eager_ms = 0;
  std::optional<Allocator> compile;  // and for torch.compile, once measured
};

// Times a kernel that was found right, and fills in times, ratios and bound, or the rejection.
// `best`: the present best, timed against as well, or nullptr. `baseline` is completed on the way.
[[nodiscard]] Result<void> TimeKernel(const JudgeParts& parts, Judging& judging,
                                      const BuiltKernel* best,
                                      std::optional<TaskBaseline>& baseline,
                                      const VerifyProgress& progress);

// Against torch.compile, after TimeKernel.
[[nodiscard]] Result<void> TimeCompiled(const JudgeParts& parts, Judging& judging,
                                        std::optional<TaskBaseline>& baseline,
                                        const VerifyProgress& progress);

}  // namespace pragma
