#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "sandbox/cgroup.h"
#include "sandbox/jail.h"
#include "worker/jail/init_protocol.h"

namespace pragma {
namespace {

constexpr Seconds kKillLimit{10};

// Message: one message from the jail, or none. `closed` is true when no process is left that could
// send one.
struct Message {
  bool closed = false;
  pid_t sender = -1;  // in pragma's pid namespace, translated by the kernel
  pragma_init_report report{};
};

bool WaitReadable(int fd, TimePoint deadline) {
  while (true) {
    const Seconds left = deadline - std::chrono::steady_clock::now();
    const double millis = std::clamp(left.count() * 1e3, 0.0, 1e9);
    pollfd waiter{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiter, 1, static_cast<int>(millis) + (millis > 0 ? 1 : 0));
    if (ready > 0) return true;
    if (ready == 0 && left.count() <= 0) return false;
  }
}

pid_t SenderOf(msghdr& header) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(part), sizeof(credentials));
    return credentials.pid;
  }
  return -1;
}

// Receives one message. nullopt: nothing arrived in time.
std::optional<Message> Receive(int fd, Seconds limit) {
  if (!WaitReadable(fd, After(limit))) return std::nullopt;
  Message message;
  iovec part{.iov_base = &message.report, .iov_len = sizeof(message.report)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t n = ::recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
  message.closed = n != static_cast<ssize_t>(sizeof(message.report));
  message.sender = message.closed ? -1 : SenderOf(header);
  return message;
}

std::string StageText(std::uint32_t stage) {
  switch (stage) {
    case PRAGMA_STAGE_DESCRIPTORS: return "placing its file descriptors";
    case PRAGMA_STAGE_USER: return "giving it a user of its own";
    case PRAGMA_STAGE_FOLDER: return "entering its folder (is it bound?)";
    case PRAGMA_STAGE_LIMITS: return "setting its limits";
    case PRAGMA_STAGE_FILES: return "allowing it its files (is one of them missing?)";
    case PRAGMA_STAGE_CALLS: return "installing its seccomp filter";
    case PRAGMA_STAGE_EXEC: return "executing it (are it and its interpreter bound?)";
    default: return "an unknown step";
  }
}

Outcome FromReport(const pragma_init_report& report) {
  Outcome outcome = Outcome::FromStatus(report.status);
  outcome.usage = report.usage;
  return outcome;
}

}  // namespace

Result<void> JailedProcess::Greet(Seconds limit, const std::optional<Cgroup>& group) {
  const std::optional<Message> hello = Receive(report_.get(), limit);
  if (!hello) return Fail("it did not start in " + std::to_string(limit.count()) + " s");
  if (hello->closed || hello->report.kind != PRAGMA_INIT_HELLO || hello->sender <= 0) {
    return Fail("it ended before the program could start");
  }
  host_pid_ = hello->sender;
  // The child waits for the parent's byte, so this number still belongs to it.
  pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, host_pid_, 0)));
  if (!pidfd_.valid()) return FailErrno("cannot open a pidfd");
  if (group) TRY(group->Add(host_pid_));
  if (::send(report_.get(), "g", 1, MSG_NOSIGNAL) != 1) return FailErrno("cannot answer init");
  const std::optional<Message> started = Receive(report_.get(), limit);
  if (!started || started->closed) return Fail("init did not report the start");
  if (started->report.kind == PRAGMA_INIT_RUNNING) return {};
  return Fail(std::generic_category().message(started->report.error) + ", when " +
              StageText(started->report.stage));
}

Result<std::optional<Outcome>> JailedProcess::WaitFor(Seconds limit) {
  if (outcome_) return outcome_;
  const std::optional<Message> message = Receive(report_.get(), limit);
  if (!message) return std::optional<Outcome>();
  // A missing report means that init itself was killed, and everything in the jail with it.
  Outcome outcome{.kind = Outcome::Kind::kSignalled, .code = SIGKILL, .usage = {}};
  if (!message->closed && message->report.kind == PRAGMA_INIT_DIED) {
    outcome = FromReport(message->report);
  }
  if (killed_ && outcome.kind == Outcome::Kind::kSignalled && outcome.code == SIGKILL) {
    outcome.kind = Outcome::Kind::kKilled;
  }
  outcome_ = outcome;
  return outcome_;
}

// Kills the program first, because init then still reports what it used. The kernel ends the rest
// of the jail with init. Then bwrap's own process ends, and then the guard.
Result<Outcome> JailedProcess::Kill() {
  TRY(WaitFor(Seconds{0}));
  if (!outcome_ && pidfd_.valid()) {
    killed_ = true;
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
    TRY(WaitFor(kKillLimit));
  }
  if (!outcome_ || !process_.WaitFor(kKillLimit)) report_.Reset();  // the guard kills the rest
  if (!process_.WaitFor(kKillLimit)) process_.Kill();
  const bool gone = process_.WaitFor(kKillLimit).has_value() &&
                    (!pidfd_.valid() || WaitReadable(pidfd_.get(), After(kKillLimit)));
  if (!gone) return Fail("a jail does not end (it ignores SIGKILL)");
  if (!outcome_) outcome_ = Outcome{.kind = Outcome::Kind::kKilled, .code = SIGKILL, .usage = {}};
  return *outcome_;
}

JailedProcess& JailedProcess::operator=(JailedProcess&& other) noexcept {
  if (this != &other) {
    Destroy();
    scratch_ = std::move(other.scratch_);
    process_ = std::move(other.process_);
    report_ = std::move(other.report_);
    host_pid_ = std::exchange(other.host_pid_, -1);
    pidfd_ = std::move(other.pidfd_);
    outcome_ = other.outcome_;
    killed_ = other.killed_;
  }
  return *this;
}

JailedProcess::~JailedProcess() { Destroy(); }

void JailedProcess::Destroy() noexcept {
  if (process_.pid() <= 0) return;
  [[maybe_unused]] const Result<Outcome> killed = Kill();
}

}  // namespace pragma
