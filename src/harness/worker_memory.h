// WorkerMemory: the memory that a kernel is called on besides its inputs, and the control page that
// says where everything is located (worker/load/kernel_memory.h reads it).
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "base/shared_memory.h"
#include "build/builder.h"
#include "core/task.h"
#include "harness/ring.h"
#include "task/doorbell.h"

namespace pragma {

struct WorkerMemory {
  SharedMemory outputs;
  SharedMemory scratch;  // poisoned scratch, followed by a packed area for each set
  Doorbell control;
};

[[nodiscard]] Result<WorkerMemory> MakeWorkerMemory(const Task& task, const Ring& ring,
                                                    const BuiltKernel& kernel);

// Environment variables for OpenMP. They give every measured side the same threads on the same
// processors. `thread_limit` is the maximum size of a thread team; 0 means no limit.
[[nodiscard]] std::map<std::string, std::string> OpenMpEnvironment(int threads, bool bound = true,
                                                                   int thread_limit = 0);

}  // namespace pragma
