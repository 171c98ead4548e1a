// WorkerMemory: what a kernel is called on besides its inputs, and the page that says where
// everything lies (worker/load/kernel_memory.h reads it).
#pragma once

#include <map>
#include <string>

#include "task/doorbell.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "core/task.h"
#include "harness/ring.h"

namespace pragma {

struct WorkerMemory {
  SharedMemory outputs;
  SharedMemory scratch;  // poisoned scratch, then a packed area for each set
  Doorbell control;
};

[[nodiscard]] Result<WorkerMemory> MakeWorkerMemory(const Task& task, const Ring& ring,
                                                    const BuiltKernel& kernel);

// The same threads on the same processors for every measured side. `thread_limit`: of a team; 0:
// none.
[[nodiscard]] std::map<std::string, std::string> OpenMpEnvironment(int threads, bool bound = true,
                                                                   int thread_limit = 0);

}  // namespace pragma
