// Describes one call of a task's kernel from a stand-alone program. Sanitizers and external
// profilers run that program.
#pragma once

#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "build/workshop.h"
#include "core/task.h"
#include "task/torch_server.h"

namespace pragma {

// Draws one set of the task's own inputs into a new memory block, which the program cannot write.
// The sizes that vary follow the inputs.
[[nodiscard]] Result<SharedMemory> DrawInstrumentedInputs(TorchServer& server);
// Describes one call on one thread. `inputs` comes from DrawInstrumentedInputs and must outlive the
// call.
[[nodiscard]] InstrumentedCall InstrumentedCallOf(const Task& task, const BuiltKernel& kernel,
                                                  const SharedMemory& inputs);

}  // namespace pragma
