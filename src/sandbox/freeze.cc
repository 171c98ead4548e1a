#include "sandbox/freeze.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

constexpr auto kFreezeLimit = std::chrono::seconds(5);
constexpr int kEagerLooks = 20;       // checks before the first sleep, because a stop takes
                                      // microseconds
constexpr long kSleepNanos = 50'000;  // between later checks

// Returns the state letter of one thread ("R", "S", "T", ...), or 'X' when the thread is gone.
char ThreadState(int task_dir, const char* thread) {
  const std::string name = std::string(thread) + "/stat";
  const UniqueFd file(::openat(task_dir, name.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> buffer{};
  const ssize_t n = file.valid() ? ::read(file.get(), buffer.data(), buffer.size()) : -1;
  if (n <= 0) return 'X';
  const std::string_view text(buffer.data(), static_cast<std::size_t>(n));
  const std::size_t end = text.rfind(") ");  // the name in front of it may hold any characters
  return end == std::string_view::npos || end + 2 >= text.size() ? '?' : text[end + 2];
}

bool AllThreadsStopped(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/task";
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(path.c_str()), ::closedir);
  if (!dir) return true;  // the process is gone, so none of it runs
  while (const dirent* entry = ::readdir(dir.get())) {
    if (entry->d_name[0] == '.') continue;
    const char state = ThreadState(::dirfd(dir.get()), entry->d_name);
    if (std::string_view("TtZXx").find(state) == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace

Result<void> WaitUntilStopped(pid_t pid) {
  const auto deadline = std::chrono::steady_clock::now() + kFreezeLimit;
  for (int look = 0; !AllThreadsStopped(pid); ++look) {
    if (std::chrono::steady_clock::now() > deadline) {
      return Fail("process " + std::to_string(pid) +
                  " does not stop (a thread hangs in the kernel)");
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = kSleepNanos};
    if (look >= kEagerLooks) ::nanosleep(&pause, nullptr);
  }
  return {};
}

Result<void> FreezeProcess(pid_t pid) {
  if (::kill(pid, SIGSTOP) != 0) return FailErrno("cannot freeze process " + std::to_string(pid));
  return WaitUntilStopped(pid);
}

Result<void> ThawProcess(pid_t pid) {
  if (::kill(pid, SIGCONT) != 0) return FailErrno("cannot thaw process " + std::to_string(pid));
  return {};
}

// Freezes the program. A dead program counts as frozen. Another process may have its number by now,
// so signals are sent by pidfd.
Result<void> JailedProcess::Freeze() const {
  if (::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGSTOP, nullptr, 0) == 0) {
    return WaitUntilStopped(host_pid_);
  }
  if (errno == ESRCH) return {};
  return FailErrno("cannot freeze the jailed program");
}

Result<void> JailedProcess::Thaw() const {
  if (::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGCONT, nullptr, 0) == 0) return {};
  if (errno == ESRCH) return {};
  return FailErrno("cannot thaw the jailed program");
}

}  // namespace pragma
