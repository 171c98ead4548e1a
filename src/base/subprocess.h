// Child processes. Every child is spawned from one permanent thread (its death signal follows the
// thread that forked it), dies with us (PR_SET_PDEATHSIG, rechecked), and leads a process group of
// its own, so that Ctrl-C reaches only us.
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
  std::map<std::string, std::string> env;  // the whole environment, unless inherit_env
  bool inherit_env = false;                // true: ours, with `env` on top
  std::string cwd;                         // empty: ours
  // {descriptor here, number in the child}; all others are closed.
  std::vector<std::pair<int, int>> fds;
  std::optional<std::string> stdin_text;  // for RunProcess; none: /dev/null
};

// What became of a child, as the kernel tells it.
struct ExitStatus {
  bool signalled = false;
  int code = 0;  // exit code, or the signal's number
  rusage usage{};
  [[nodiscard]] bool ok() const { return !signalled && code == 0; }
};

// A running child. Killed (the whole process group, SIGKILL) and reaped when the object dies.
class Process final {
 public:
  // stdin, stdout and stderr are /dev/null unless spec.fds says otherwise.
  [[nodiscard]] static Result<Process> Spawn(const ProcessSpec& spec);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Readable (poll) once the child is dead.
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  void Signal(int signal) const;
  void Kill() const;
  // Waits until the child is dead, at most `limit`; nullopt if it still lives then.
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
  // Of stdout and stderr each; the rest is dropped.
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

// Runs to the end, captures both outputs, kills at the limit. Returns an Error only if the program
// cannot be started; a failing program is a RunResult.
[[nodiscard]] Result<RunResult> RunProcess(const ProcessSpec& spec, const RunLimits& limits);

}  // namespace pragma
