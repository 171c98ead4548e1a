// Jail: starts a program under bubblewrap (namespaces, no network, near-empty environment, only
// what is bound) with rlimits and with pragma-init as process 1. Where no namespaces can be made, a
// reduced jail takes its place: Landlock, a seccomp filter, rlimits and, for root, another user. It
// reports the cause of the program's death as a value. Everything in it dies with pragma: a guard
// process between pragma and the jail sees pragma's end and kills everything below it.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
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
  std::size_t address_space_bytes = 0;              // RLIMIT_AS; 0: no limit
  Seconds cpu{0};                                   // RLIMIT_CPU; 0: no limit
  std::size_t file_bytes = std::size_t{64} << 20U;  // RLIMIT_FSIZE
  // Limit for all processes of the jail together, by a control group. 0, or where no group can be
  // made: no limit.
  std::size_t memory_bytes = 0;
  int processes = 0;  // RLIMIT_NPROC (threads too), per jail; 0 or unsafe: no limit
  int open_files = 64;
  std::size_t stack_bytes = std::size_t{64} << 20U;
  std::size_t tmpfs_bytes = std::size_t{256} << 20U;  // size of each tmpfs
};

struct JailSpec {
  std::vector<std::string> argv;           // paths as seen inside
  std::map<std::string, std::string> env;  // the whole environment
  std::vector<Bind> binds;                 // /dev holds only /dev/null unless more is bound here
  std::vector<std::pair<std::string, std::string>> symlinks;  // {target, path inside}
  std::vector<std::string> tmpfs;
  bool proc = false;  // true: mount a fresh /proc
  std::string cwd = "/";
  std::vector<std::pair<int, int>> fds;  // {descriptor here, number inside}
  JailLimits limits;
};

// Outcome: how a jailed program ended, as the kernel reports it. What the program itself says is
// never used.
struct Outcome {
  enum class Kind : std::uint8_t { kExited, kSignalled, kKilled };  // kKilled: killed by pragma
  Kind kind = Kind::kExited;
  int code = 0;    // exit code or signal
  rusage usage{};  // resources used by the program and its children
  // Returns one sentence: "killed by SIGSEGV (invalid memory access)", "used a forbidden system
  // call (SIGSYS)".
  [[nodiscard]] std::string Describe() const;
  // Makes an Outcome from a wait status, which holds no resource usage.
  [[nodiscard]] static Outcome FromStatus(int status);
};

// JailedProcess: a running jail. The destructor kills everything in it.
class JailedProcess final {
 public:
  JailedProcess(JailedProcess&&) noexcept = default;
  JailedProcess& operator=(JailedProcess&& other) noexcept;
  ~JailedProcess();

  // Returns the program's process id in pragma's pid namespace (not that of bwrap or init). The
  // kernel reports it through SCM_CREDENTIALS. SIGSTOP is sent to this id.
  [[nodiscard]] pid_t host_pid() const { return host_pid_; }
  [[nodiscard]] int pidfd() const {
    return pidfd_.get();
  }  // pidfd of host_pid; readable once it
     // is dead
  // Waits until the program is dead, for at most `limit`. nullopt if it is still alive then.
  [[nodiscard]] Result<std::optional<Outcome>> WaitFor(Seconds limit);
  // Kills everything in the jail and waits until it is gone.
  [[nodiscard]] Result<Outcome> Kill();
  // Freeze sends SIGSTOP to the program and waits until every thread of it is stopped. Thaw lets it
  // run again.
  [[nodiscard]] Result<void> Freeze() const;
  [[nodiscard]] Result<void> Thaw() const;

 private:
  friend class Jail;
  JailedProcess(Process process, UniqueFd report, std::vector<TempDir> scratch)
      : scratch_(std::move(scratch)), process_(std::move(process)), report_(std::move(report)) {}
  // Does the handshake of the start (worker/jail/init_protocol.h): learns host_pid, lets the
  // program go on, and waits until it is exec'ed. The program joins `group`, if there is one,
  // before it goes on.
  [[nodiscard]] Result<void> Greet(Seconds limit, const std::optional<Cgroup>& group);
  void Destroy() noexcept;
  std::vector<TempDir> scratch_;  // takes the place of tmpfs where nothing can be mounted
  Process process_;               // the guard (worker/jail/guard.h)
  UniqueFd report_;               // report socket of pragma-init
  pid_t host_pid_ = -1;
  UniqueFd pidfd_;
  std::optional<Outcome> outcome_;
  bool killed_ = false;
};

// Sends SIGSTOP to one of pragma's processes by host pid and waits until all its threads are in
// state T. ThawProcess sends SIGCONT.
[[nodiscard]] Result<void> FreezeProcess(pid_t pid);
[[nodiscard]] Result<void> ThawProcess(pid_t pid);
// Returns false when a jail's program has started processes that are still alive, because stopping
// the program does not stop them. Also returns true where the kernel does not report children (no
// CONFIG_PROC_CHILDREN).
[[nodiscard]] bool RunsAlone(pid_t program);
// Like RunsAlone, for a process that a jail's program forked. Its siblings are pragma's own
// processes.
[[nodiscard]] bool LeftNothing(pid_t forked);

// What is asked for. kBest: the full jail, or the reduced one where no full jail can be made.
enum class SandboxMode : std::uint8_t { kBest, kFull, kReduced, kUnsafeNone };
// What protects from the jailed programs.
enum class JailKind : std::uint8_t { kFull, kReduced, kNone };

class Jail final {
 public:
  // Finds bwrap and pragma-init (`program_dir`/pragma-init) and tries them once. It fails when no
  // jail of the kind that is asked for works here. The error says why and what to do.
  [[nodiscard]] static Result<Jail> Create(const std::string& program_dir, SandboxMode mode);

  // Starts the program. Returns when it has been exec'ed (host_pid is known) or the start failed.
  [[nodiscard]] Result<JailedProcess> Start(const JailSpec& spec) const;
  // RunOutcome: the result of Run, which starts the program, captures stdout and stderr, waits, and
  // kills at the limit.
  struct RunOutcome {
    Outcome outcome;
    bool timed_out = false;
    bool truncated = false;
    std::string out;
    std::string err;
    Seconds wall{0};
    // Returns whether the program ended by itself, with exit code 0.
    [[nodiscard]] bool ok() const {
      return !timed_out && outcome.kind == Outcome::Kind::kExited && outcome.code == 0;
    }
  };
  [[nodiscard]] Result<RunOutcome> Run(const JailSpec& spec, const RunLimits& limits) const;
  // Returns the protections in force, for evidence: "namespaces", "seccomp", "rlimits", ... Empty
  // when unsafe.
  [[nodiscard]] const std::vector<std::string>& protections() const { return protections_; }
  [[nodiscard]] JailKind kind() const { return kind_; }
  [[nodiscard]] bool unsafe() const { return kind_ == JailKind::kNone; }
  // Returns why there is no full jail, for a reduced one that was not asked for; else "".
  [[nodiscard]] const std::string& why_reduced() const { return why_reduced_; }
  // Returns Environment::trust of what runs in this jail. `weaker` is what is to be said of the
  // program itself, whatever the jail.
  [[nodiscard]] std::string Trust(std::string_view weaker = {}) const;
  // Returns true when programs see the paths of binds as they are inside, else those outside.
  [[nodiscard]] bool own_paths() const { return kind_ == JailKind::kFull; }
  // Returns true when programs run as another user than pragma, whose files they cannot read.
  [[nodiscard]] bool other_user() const;
  // Returns true when programs cannot open files that are not bound.
  [[nodiscard]] bool guards_files() const { return kind_ == JailKind::kFull || landlock_ > 0; }
  [[nodiscard]] const std::string& program_dir() const { return program_dir_; }

 private:
  [[nodiscard]] Result<void> Try() const;
  // Tries the jail with all protections that were found, then with fewer.
  [[nodiscard]] Result<void> Settle();
  [[nodiscard]] Result<void> SettleFull();
  [[nodiscard]] Result<void> SettleReduced();
  std::string program_dir_;
  CgroupPlace cgroups_;
  std::string bwrap_;
  JailKind kind_ = JailKind::kNone;
  std::string why_reduced_;
  int landlock_ = 0;  // version that the reduced jail uses; 0: the kernel has none
  // True: pragma runs as root and every jail gets its own user id, because RLIMIT_NPROC never
  // binds for root.
  bool own_user_ = false;
  std::vector<std::string> protections_;
};

}  // namespace pragma
