#include "sandbox/jail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
constexpr const char* kUnsafeAdvice =
    "; or pass --unsafe-no-sandbox to run generated code without protection";
constexpr const char* kFullAdvice =
    "; bwrap needs root's rights or unprivileged user namespaces: look at `sysctl "
    "user.max_user_namespaces kernel.unprivileged_userns_clone "
    "kernel.apparmor_restrict_unprivileged_userns`, and in a container at its flags "
    "(docs/containers.md); or leave out --jail full";

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

// Returns the version of Landlock that the running kernel has, or 0.
int LandlockVersion() {
  constexpr long kCreateRuleset = 444;
  constexpr unsigned kAskForVersion = 1;
  const long version = ::syscall(kCreateRuleset, nullptr, 0, kAskForVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

// Returns the sentence in which bwrap says what it cannot do, or all of the message.
std::string WordsOfBwrap(const std::string& message) {
  const std::size_t at = message.find("bwrap: ");
  if (at == std::string::npos) return message;
  const std::string said = message.substr(at);
  return said.substr(0, std::min(said.find(". "), said.find("; ")));
}

// Makes folders that take the place of the jail's tmpfs, and binds them there.
Result<std::vector<TempDir>> MakeScratch(JailSpec& spec) {
  std::vector<TempDir> scratch;
  for (const std::string& path : std::exchange(spec.tmpfs, {})) {
    scratch.push_back(TRY(TempDir::Create()));
    const std::string folder = scratch.back().path().string();
    if (::chmod(folder.c_str(), 01777) != 0) return FailErrno("cannot open " + folder);
    spec.binds.push_back({folder, path, true});
  }
  return scratch;
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
  own_user_ = ::geteuid() == 0 && JailUsers().count != 0;
  cgroups_ = FindCgroups().value_or(CgroupPlace{});
  Result<void> tried = Try();
  if (!tried && cgroups_.usable()) {
    cgroups_ = {};
    tried = Try();
  }
  if (!tried && own_user_) {  // root without root's capabilities, as in some containers
    own_user_ = false;
    tried = Try();
  }
  return tried;
}

Result<void> Jail::SettleFull() {
  kind_ = JailKind::kFull;
  bwrap_ = FindProgram("bwrap");
  // A portable folder contains its own bwrap (tools/portable.sh).
  const std::string own = program_dir_ + "/bwrap";
  if (bwrap_.empty() && ::access(own.c_str(), X_OK) == 0) bwrap_ = own;
  if (bwrap_.empty()) {
    return Fail(ErrorKind::kUnavailable,
                "bubblewrap (program bwrap) is not installed: install the package bubblewrap");
  }
  if (const Result<void> settled = Settle(); !settled) {
    return Fail(ErrorKind::kUnavailable,
                "bubblewrap does not work here: " + WordsOfBwrap(settled.error().message));
  }
  protections_ = {"namespaces",        "no network", "empty environment",
                  "no new privileges", "rlimits",    own_user_ ? "own user" : "user namespace"};
  return {};
}

Result<void> Jail::SettleReduced() {
  kind_ = JailKind::kReduced;
  landlock_ = LandlockVersion();
  if (const Result<void> settled = Settle(); !settled) {
    return Fail(ErrorKind::kUnavailable,
                "the reduced jail does not work here: " + settled.error().message);
  }
  protections_ = {"no sockets but local ones", "empty environment", "no new privileges", "rlimits"};
  if (landlock_ > 0) protections_.push_back(fmt::format("Landlock {}", landlock_));
  if (own_user_) protections_.emplace_back("own user");
  return {};
}

Result<Jail> Jail::Create(const std::string& program_dir, SandboxMode mode) {
  Jail jail;
  jail.program_dir_ = std::filesystem::absolute(program_dir).lexically_normal();
  const std::string init = jail.program_dir_ + "/pragma-init";
  if (::access(init.c_str(), X_OK) != 0) {
    return Fail(ErrorKind::kUnavailable,
                init + " is missing or cannot be executed: build or install pragma again");
  }
  if (mode == SandboxMode::kUnsafeNone) {
    TRY(jail.Try());
    return jail;
  }
  if (mode != SandboxMode::kReduced) {
    const Result<void> full = jail.SettleFull();
    if (!full) jail.why_reduced_ = full.error().message;
    if (!full && mode == SandboxMode::kFull)
      return Fail(ErrorKind::kUnavailable, jail.why_reduced_ + kFullAdvice);
  }
  if (mode == SandboxMode::kReduced || !jail.why_reduced_.empty()) {
    if (const Result<void> reduced = jail.SettleReduced(); !reduced) {
      const std::string full = jail.why_reduced_.empty() ? "" : jail.why_reduced_ + "; ";
      return Fail(ErrorKind::kUnavailable, full + reduced.error().message + kUnsafeAdvice);
    }
  }
  if (jail.cgroups_.usable())
    jail.protections_.push_back("cgroups v" + std::to_string(jail.cgroups_.version));
  return jail;
}

std::string Jail::Trust(std::string_view weaker) const {
  if (kind_ == JailKind::kNone) return "none (unsafe-no-sandbox)";
  if (kind_ == JailKind::kFull) return std::string(weaker.empty() ? "isolated" : weaker);
  std::string trust =
      landlock_ > 0 ? "reduced (no namespaces)" : "reduced (no namespaces, no Landlock)";
  return weaker.empty() ? trust : trust.append(", ").append(weaker);
}

bool Jail::other_user() const {
  return kind_ == JailKind::kFull ? ::geteuid() == 0 : kind_ == JailKind::kReduced && own_user_;
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
  JailTraits traits{.bwrap = bwrap_,
                    .init = program_dir_ + "/pragma-init",
                    .user_namespace = !own_user_,
                    .uid = own_user_ ? DrawUser() : 0,
                    .cgroups = group ? group->folders() : std::vector<std::string>(),
                    .scratch = {},
                    .kind = kind_,
                    .landlock = landlock_};
  JailSpec placed = spec;
  std::vector<TempDir> scratch;
  if (!own_paths()) scratch = TRY(MakeScratch(placed));
  for (const TempDir& folder : scratch) traits.scratch.push_back(folder.path().string());
  ProcessSpec command;
  command.argv = own_paths() ? JailCommand(placed, traits) : PlainCommand(placed, traits);
  command.cwd = "/";
  command.fds = {
      {complain.get(), 1}, {complain.get(), 2}, {report.theirs.get(), PRAGMA_INIT_REPORT_FD}};
  int number = PRAGMA_INIT_FIRST_FD;
  for (const auto& [from, to] : spec.fds) command.fds.emplace_back(from, number++);
  JailedProcess process(TRY(Process::Spawn(command)), std::move(report.ours), std::move(scratch));
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
