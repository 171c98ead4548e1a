#include "sandbox/jail.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/random.h"
#include "base/result.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "sandbox/cgroup.h"
#include "sandbox/command.h"
#include "worker/jail/init_protocol.h"

namespace pragma {
namespace {

constexpr Seconds kStartLimit{30};
constexpr std::size_t kTriedMemory = std::size_t{64} << 20U;
constexpr const char* kAdvice =
    "; or pass --unsafe-no-sandbox to run generated code without protection";

// Returns the path of a program in PATH, or an empty text when there is none.
std::string FindProgram(std::string_view name) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): no code sets it
  for (const std::string& folder : Split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const std::string full = folder + "/" + std::string(name);
    if (!folder.empty() && ::access(full.c_str(), X_OK) == 0)
      return std::filesystem::absolute(full);
  }
  return {};
}

// UserRange: a range of user ids that no real user has. They are beyond those that containers use.
// Where only 16 bits are mapped, the range is the one that systemd reserves for this purpose.
struct UserRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

std::uint64_t MappedUsers(const char* map) {
  const Result<std::string> text = ReadFile(map);
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;
  if (!text) return 0;
  std::istringstream(*text) >> inside >> outside >> count;
  return inside == 0 ? count : 0;
}

UserRange JailUsers() {
  const std::uint64_t mapped =
      std::min(MappedUsers("/proc/self/uid_map"), MappedUsers("/proc/self/gid_map"));
  constexpr UserRange kLarge{.first = 1'879'048'192U, .count = 1U << 24U};
  constexpr UserRange kSmall{.first = 61'184U, .count = 4'000U};
  if (mapped > std::uint64_t{kLarge.first} + kLarge.count) return kLarge;
  if (mapped > std::uint64_t{kSmall.first} + kSmall.count) return kSmall;
  return {};
}

// Draws a fresh user id for each jail, because RLIMIT_NPROC counts per user. 0: no id is available.
std::uint32_t DrawUser() {
  const UserRange range = JailUsers();
  if (range.count == 0) return 0;
  Rng random(SystemSeed());
  return range.first + static_cast<std::uint32_t>(random.Below(range.count));
}

// ReportSocket: both ends of the report socket. The kernel adds the sender's process id to the
// messages that `ours` receives.
struct ReportSocket {
  UniqueFd ours;
  UniqueFd theirs;
};

Result<ReportSocket> MakeReportSocket() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return FailErrno("cannot create a socket pair");
  }
  ReportSocket pair{.ours = UniqueFd(ends[0]), .theirs = UniqueFd(ends[1])};
  const int on = 1;
  if (::setsockopt(pair.ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0) {
    return FailErrno("cannot ask for credentials on a socket");
  }
  return pair;
}

// Returns what bwrap and init wrote while starting, on one line.
std::string Complaint(const UniqueFd& pipe) {
  ::fcntl(pipe.get(), F_SETFL, O_NONBLOCK);
  std::array<char, 2048> buffer{};
  const ssize_t n = ::read(pipe.get(), buffer.data(), buffer.size());
  if (n <= 0) return {};
  const std::string text(buffer.data(), static_cast<std::size_t>(n));
  return ToValidUtf8(Join(SplitLines(Trim(text)), "; "));
}

std::string MissingBwrap() {
  return std::string(
             "bubblewrap (program bwrap) is not installed, and without it no generated code "
             "is run: install the package bubblewrap") +
         kAdvice;
}

std::string BrokenBwrap(const std::string& why) {
  return "the sandbox does not work here: " + why +
         "; bwrap needs root's rights or unprivileged user namespaces: look at `sysctl "
         "user.max_user_namespaces kernel.unprivileged_userns_clone "
         "kernel.apparmor_restrict_unprivileged_userns`, and in a container at its seccomp "
         "profile" +
         kAdvice;
}

}  // namespace

Result<void> Jail::Try() const {
  JailSpec spec{.argv = {kInitInside, "--true"}};
  spec.limits.memory_bytes = kTriedMemory;
  const RunOutcome run = TRY(Run(spec, RunLimits{.wall = kStartLimit}));
  if (run.ok()) return {};
  return Fail(ErrorKind::kUnavailable, "a trivial program " + run.outcome.Describe());
}

Result<void> Jail::Settle() {
  user_namespace_ = ::geteuid() != 0 || JailUsers().count == 0;
  cgroups_ = FindCgroups().value_or(CgroupPlace{});
  Result<void> tried = Try();
  if (!tried && cgroups_.usable()) {
    cgroups_ = {};
    tried = Try();
  }
  if (!tried && !user_namespace_) {  // root without root's capabilities, as in some containers
    user_namespace_ = true;
    tried = Try();
  }
  return tried;
}

Result<Jail> Jail::Create(const std::string& program_dir, SandboxMode mode) {
  Jail jail;
  jail.program_dir_ = std::filesystem::absolute(program_dir).lexically_normal();
  jail.mode_ = mode;
  const std::string init = jail.program_dir_ + "/pragma-init";
  if (::access(init.c_str(), X_OK) != 0) {
    return Fail(ErrorKind::kUnavailable,
                init + " is missing or cannot be executed: build or install pragma again");
  }
  if (mode == SandboxMode::kUnsafeNone) {
    TRY(jail.Try());
    return jail;
  }
  jail.bwrap_ = FindProgram("bwrap");
  // A portable folder contains its own bwrap (tools/portable.sh).
  const std::string own = jail.program_dir_ + "/bwrap";
  if (jail.bwrap_.empty() && ::access(own.c_str(), X_OK) == 0) jail.bwrap_ = own;
  if (jail.bwrap_.empty()) return Fail(ErrorKind::kUnavailable, MissingBwrap());
  if (auto settled = jail.Settle(); !settled)
    return Fail(ErrorKind::kUnavailable, BrokenBwrap(settled.error().message));
  jail.protections_ = {"namespaces",        "no network",
                       "empty environment", "no new privileges",
                       "rlimits",           jail.user_namespace_ ? "user namespace" : "own user"};
  if (jail.cgroups_.usable())
    jail.protections_.push_back("cgroups v" + std::to_string(jail.cgroups_.version));
  return jail;
}

Result<JailedProcess> Jail::Start(const JailSpec& spec) const {
  if (spec.argv.empty()) return Fail("no program given to start in a jail");
  ReportSocket report = TRY(MakeReportSocket());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return FailErrno("cannot create a pipe");
  const UniqueFd complaints(ends[0]);
  UniqueFd complain(ends[1]);
  std::optional<Cgroup> group;
  if (cgroups_.usable() && spec.limits.memory_bytes > 0) {
    group = TRY(Cgroup::Create(
        cgroups_, {.memory_bytes = spec.limits.memory_bytes, .processes = spec.limits.processes}));
  }
  const JailTraits traits{.bwrap = bwrap_,
                          .init = program_dir_ + "/pragma-init",
                          .user_namespace = user_namespace_,
                          .uid = unsafe() || user_namespace_ ? 0 : DrawUser(),
                          .cgroups = group ? group->folders() : std::vector<std::string>()};
  ProcessSpec command;
  command.argv = unsafe() ? UnjailedCommand(spec, traits) : JailCommand(spec, traits);
  command.cwd = "/";
  command.fds = {
      {complain.get(), 1}, {complain.get(), 2}, {report.theirs.get(), PRAGMA_INIT_REPORT_FD}};
  int number = PRAGMA_INIT_FIRST_FD;
  for (const auto& [from, to] : spec.fds) command.fds.emplace_back(from, number++);
  JailedProcess process(TRY(Process::Spawn(command)), std::move(report.ours));
  report.theirs.Reset();
  complain.Reset();
  if (Result<void> greeted = process.Greet(kStartLimit, group); !greeted) {
    [[maybe_unused]] const Result<Outcome> killed = process.Kill();
    const std::string said = Complaint(complaints);
    return Fail(ErrorKind::kUnavailable, "cannot start " + spec.argv.front() + " in a jail: " +
                                             (said.empty() ? greeted.error().message : said));
  }
  return process;
}

}  // namespace pragma
