#include "base/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>

namespace pragma {
namespace {

// Signal handlers can reach only globals, and may touch only lock-free atomics.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<bool> interrupted{false};
std::atomic<int> wake_fd{-1};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void OnSignal(int signal) {
  if (interrupted.exchange(true)) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_fd.load(), &one, sizeof(one));
}

}  // namespace

void InstallInterruptHandlers() {
  wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action{};
  action.sa_handler = OnSignal;  // NOLINT(cppcoreguidelines-pro-type-union-access)
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

bool Interrupted() { return interrupted.load(); }
int InterruptFd() { return wake_fd.load(); }
void SetInterruptedForTest(bool value) { interrupted = value; }

}  // namespace pragma
