// Interrupt: the request to stop, as a flag that loops and waits check. It comes from the user
// (Ctrl-C, SIGTERM), or from the clock when a command has used more time than it was given.
#pragma once

#include "base/clock.h"

namespace pragma {

// Installs handlers for SIGINT and SIGTERM that set the flag below. The second signal of the same
// kind ends the program at once. Call it once, from main(), before any thread exists.
void InstallInterruptHandlers();
[[nodiscard]] bool Interrupted();
// Asks to stop at a time. Call it after InstallInterruptHandlers.
void StopAt(TimePoint time);
// Returns whether it is the clock that asks to stop, and not the user.
[[nodiscard]] bool TimeIsUp();
// Returns a descriptor for poll(2) that becomes readable once Interrupted() is true. -1 before the
// handlers are installed.
[[nodiscard]] int InterruptFd();
// Sets or clears the flag. For tests only.
void SetInterruptedForTest(bool value);

}  // namespace pragma
