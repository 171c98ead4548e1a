// Child processes. Every child is spawned from one permanent thread, because its death signal
// follows the thread that forked it. Every child dies with pragma (PR_SET_PDEATHSIG, rechecked
// after the fork) and leads its own process group, so that Ctrl-C reaches only pragma.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace pragma {

struct ProcessSpec {
  std::vector<std::string> argv;           // argv[0] is looked up in PATH when it has no slash
  std::map<std::string, std::string> env;  // the whole environment, unless inherit_env is set
  bool inherit_env = false;                // true: pragma's environment, overridden by `env`
  std::string cwd;                         // empty: pragma's working directory
  // Pairs {descriptor here, number in the child}. All other descriptors are closed in the child.
  std::vector<std::pair<int, int>> fds;
  std::optional<std::string> stdin_text;  // for RunProcess; without it stdin is /dev/null
};

// ExitStatus: how a child ended, as the kernel reports it.
struct ExitStatus {
  bool signalled = false;
  int code = 0;  // exit code, or the signal's number
  rusage usage{};
  [[nodiscard]] bool ok() const { return !signalled && code == 0; }
};

// Process: a running child. The destructor kills its whole process group (SIGKILL) and reaps it.
class Process final {
 public:
  // Starts the child. stdin, stdout and stderr are /dev/null unless spec.fds says otherwise.
  [[nodiscard]] static Result<Process> Spawn(const ProcessSpec& spec);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Returns a descriptor that becomes readable (poll) once the child is dead.
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  void Signal(int signal) const;
  void Kill() const;
  // Waits until the child is dead, for at most `limit`. nullopt if it is still alive then.
  [[nodiscard]] std::optional<ExitStatus> WaitFor(Seconds limit);
  [[nodiscard]] bool alive();

 private:
  Process(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  void Destroy() noexcept;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  std::optional<ExitStatus> status_;
};

struct RunLimits {
  Seconds wall{60};
  // Limit for stdout and stderr each. Output beyond it is dropped.
  std::size_t max_output_bytes = std::size_t{1} << 20U;
};

struct RunResult {
  ExitStatus status;
  bool timed_out = false;
  bool truncated = false;
  std::string out;
  std::string err;
  Seconds wall{0};
};

// Runs the program to its end, captures both outputs and kills it at the limit. Returns an Error
// only if the program cannot be started. A failing program gives a RunResult.
[[nodiscard]] Result<RunResult> RunProcess(const ProcessSpec& spec, const RunLimits& limits);

}  // namespace pragma
