// Waits for a stopped process. SIGSTOP is only a request until every thread has obeyed it.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace pragma {

// Returns once every thread of `pid` is stopped or dead. Fails after a few seconds.
[[nodiscard]] Result<void> WaitUntilStopped(pid_t pid);

}  // namespace pragma
