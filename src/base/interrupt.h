// Interrupt: the user's wish to stop (Ctrl-C, SIGTERM), as a value that loops and waits look at.
#pragma once

namespace pragma {

// Installs handlers for SIGINT and SIGTERM that set the flag below; the second signal of the same
// kind ends the program at once. Call once, from main(), before any thread exists.
void InstallInterruptHandlers();
[[nodiscard]] bool Interrupted();
// Becomes readable once the user has asked to stop; for poll(2). -1 before installation.
[[nodiscard]] int InterruptFd();
// For tests.
void SetInterruptedForTest(bool value);

}  // namespace pragma
