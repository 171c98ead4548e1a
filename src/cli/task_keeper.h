// The process of `pragma serve` that keeps one task warm: it reads requests from a descriptor that
// it inherits and judges them one after the other, so that whatever ends it ends only this task.
#pragma once

#include "base/result.h"
#include "cli/command.h"

namespace pragma {

// The socket to the server: lines of cli/serve_protocol.h.
inline constexpr int kKeeperSocket = 3;

// Serves until the server closes the socket or a signal asks to stop. Exit code.
[[nodiscard]] Result<int> KeepTask(const Context& context);

}  // namespace pragma
