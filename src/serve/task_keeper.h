// The process of `pragma serve` that keeps one task warm. It reads requests from a descriptor that
// it inherits, and judges them one after the other. If the process dies, only this task is lost.
#pragma once

#include "app/context.h"
#include "base/result.h"

namespace pragma {

// File descriptor of the socket to the server, which carries lines of cli/serve_protocol.h.
inline constexpr int kKeeperSocket = 3;

// Serves until the server closes the socket or a signal asks to stop.
[[nodiscard]] Result<void> KeepTask(const AppContext& context);

}  // namespace pragma
