// The process of `pragma serve` that keeps one task warm. It reads requests from a descriptor that
// it inherits, and judges them one after the other. If the process dies, only this task is lost.
#pragma once

#include "base/result.h"
#include "cli/command.h"

namespace pragma {

// File descriptor of the socket to the server, which carries lines of cli/serve_protocol.h.
inline constexpr int kKeeperSocket = 3;

// Serves until the server closes the socket or a signal asks to stop. Returns the exit code.
[[nodiscard]] Result<int> KeepTask(const Context& context);

}  // namespace pragma
