// A task's kernel as a stand-alone program calls it, for sanitizers and foreign profilers.
#pragma once

#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "build/workshop.h"
#include "core/task.h"
#include "task/torch_server.h"

namespace pragma {

// A set of the task's own inputs in memory of its own, which the program cannot write; behind it
// the sizes that vary.
[[nodiscard]] Result<SharedMemory> DrawInstrumentedInputs(TorchServer& server);
// One call on one thread. `inputs` are as drawn above and outlive the call.
[[nodiscard]] InstrumentedCall InstrumentedCallOf(const Task& task, const BuiltKernel& kernel,
                                                  const SharedMemory& inputs);

}  // namespace pragma
