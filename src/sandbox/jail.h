// Jail: starts a program under bubblewrap (namespaces, no network, near-empty environment, only
// what is bound) with rlimits, our own init as process 1, and the cause of its death as a value.
// Everything dies with us: a guard process between us and bwrap sees our end and kills what is
// below.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "sandbox/cgroup.h"

namespace pragma {

struct Bind {
  std::string from;
  std::string to;
  bool writable = false;
};

struct JailLimits {
  std::size_t address_space_bytes = 0;              // RLIMIT_AS; 0: none
  Seconds cpu{0};                                   // RLIMIT_CPU; 0: none
  std::size_t file_bytes = std::size_t{64} << 20U;  // RLIMIT_FSIZE
  // Of all its processes together, by a control group; 0, or where none can be made: no limit.
  std::size_t memory_bytes = 0;
  int processes = 0;  // RLIMIT_NPROC (threads too), per jail; 0 or unsafe: none
  int open_files = 64;
  std::size_t stack_bytes = std::size_t{64} << 20U;
  std::size_t tmpfs_bytes = std::size_t{256} << 20U;  // size of each tmpfs
};

struct JailSpec {
  std::vector<std::string> argv;           // paths as seen inside
  std::map<std::string, std::string> env;  // the whole environment
  std::vector<Bind> binds;                 // /dev has only /dev/null unless bound here
  std::vector<std::pair<std::string, std::string>> symlinks;  // {target, path inside}
  std::vector<std::string> tmpfs;
  bool proc = false;  // mount a fresh /proc
  std::string cwd = "/";
  std::vector<std::pair<int, int>> fds;  // {descriptor here, number inside}
  JailLimits limits;
};

// How a jailed program ended, from the kernel's account (never from what it says).
struct Outcome {
  enum class Kind : std::uint8_t { kExited, kSignalled, kKilled };  // kKilled: by us
  Kind kind = Kind::kExited;
  int code = 0;    // exit code or signal
  rusage usage{};  // of the program and its children
  // One sentence: "killed by SIGSEGV (invalid memory access)", "used a forbidden system call
  // (SIGSYS)".
  [[nodiscard]] std::string Describe() const;
  // Of a wait status; what was used is not in it.
  [[nodiscard]] static Outcome FromStatus(int status);
};

// A running jail. Killed with everything in it when the object dies.
class JailedProcess final {
 public:
  JailedProcess(JailedProcess&&) noexcept = default;
  JailedProcess& operator=(JailedProcess&& other) noexcept;
  ~JailedProcess();

  // The program's process id in *our* namespace (not bwrap's, not init's), told by the kernel
  // through SCM_CREDENTIALS. This is what gets SIGSTOP.
  [[nodiscard]] pid_t host_pid() const { return host_pid_; }
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }  // of host_pid; readable once dead
  // Waits until the program is dead, at most `limit`; nullopt if it still lives then.
  [[nodiscard]] Result<std::optional<Outcome>> WaitFor(Seconds limit);
  // Kills everything in the jail and waits until it is gone.
  [[nodiscard]] Result<Outcome> Kill();
  // SIGSTOP to the program, then waits until every thread of it is stopped; and back.
  [[nodiscard]] Result<void> Freeze() const;
  [[nodiscard]] Result<void> Thaw() const;

 private:
  friend class Jail;
  JailedProcess(Process process, UniqueFd report)
      : process_(std::move(process)), report_(std::move(report)) {}
  // The start's handshake (worker/jail/init_protocol.h): learns host_pid, lets the program go on, and
  // waits until it is exec'ed. Before it goes on it joins `group`, if there is one.
  [[nodiscard]] Result<void> Greet(Seconds limit, const std::optional<Cgroup>& group);
  void Destroy() noexcept;
  Process process_;  // the guard (worker/jail/guard.h)
  UniqueFd report_;  // our init's report socket
  pid_t host_pid_ = -1;
  UniqueFd pidfd_;
  std::optional<Outcome> outcome_;
  bool killed_ = false;
};

// SIGSTOP to one process of ours by host pid, waiting until all its threads are in state T; and
// SIGCONT.
[[nodiscard]] Result<void> FreezeProcess(pid_t pid);
[[nodiscard]] Result<void> ThawProcess(pid_t pid);
// False when a jail's program has started processes that still live: stopping it does not stop
// them. True as well where the kernel does not tell (no CONFIG_PROC_CHILDREN).
[[nodiscard]] bool RunsAlone(pid_t program);
// The same of a process that a jail's program forked, whose siblings are our own.
[[nodiscard]] bool LeftNothing(pid_t forked);

enum class SandboxMode : std::uint8_t { kRequired, kUnsafeNone };

class Jail final {
 public:
  // Finds bwrap and our init (`program_dir`/pragma-init) and tries them once. kRequired: an Error
  // that says why and names --unsafe-no-sandbox when they do not work here.
  [[nodiscard]] static Result<Jail> Create(const std::string& program_dir, SandboxMode mode);

  // Returns when the program has been exec'ed (host_pid is known) or the start failed.
  [[nodiscard]] Result<JailedProcess> Start(const JailSpec& spec) const;
  // Start, capture stdout and stderr, wait, kill at the limit.
  struct RunOutcome {
    Outcome outcome;
    bool timed_out = false;
    bool truncated = false;
    std::string out;
    std::string err;
    Seconds wall{0};
    // It ended by itself, with exit code 0.
    [[nodiscard]] bool ok() const {
      return !timed_out && outcome.kind == Outcome::Kind::kExited && outcome.code == 0;
    }
  };
  [[nodiscard]] Result<RunOutcome> Run(const JailSpec& spec, const RunLimits& limits) const;
  // What protects us, for evidence: "namespaces", "seccomp", "rlimits", ... ; empty when unsafe.
  [[nodiscard]] const std::vector<std::string>& protections() const { return protections_; }
  [[nodiscard]] bool unsafe() const { return mode_ == SandboxMode::kUnsafeNone; }
  [[nodiscard]] const std::string& program_dir() const { return program_dir_; }

 private:
  [[nodiscard]] Result<void> Try() const;
  // Tries with the means that were found, then with fewer.
  [[nodiscard]] Result<void> Settle();
  std::string program_dir_;
  CgroupPlace cgroups_;
  std::string bwrap_;
  SandboxMode mode_ = SandboxMode::kRequired;
  // False: we are root and every jail gets a user id of its own (RLIMIT_NPROC never binds for
  // root).
  bool user_namespace_ = true;
  std::vector<std::string> protections_;
};

}  // namespace pragma
