// Waiting for a stopped process: SIGSTOP is only a request until every thread has followed it.
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace pragma {

// Returns once every thread of `pid` is stopped or dead; an Error after a few seconds.
[[nodiscard]] Result<void> WaitUntilStopped(pid_t pid);

}  // namespace pragma
