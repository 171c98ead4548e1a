// Interrupt: the user's request to stop (Ctrl-C, SIGTERM), as a flag that loops and waits check.
#pragma once

namespace pragma {

// Installs handlers for SIGINT and SIGTERM that set the flag below. The second signal of the same
// kind ends the program at once. Call it once, from main(), before any thread exists.
void InstallInterruptHandlers();
[[nodiscard]] bool Interrupted();
// Returns a descriptor for poll(2) that becomes readable once the user has asked to stop. -1 before
// the handlers are installed.
[[nodiscard]] int InterruptFd();
// Sets or clears the flag. For tests only.
void SetInterruptedForTest(bool value);

}  // namespace pragma
