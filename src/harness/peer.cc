#include "harness/peer.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "sandbox/jail.h"
#include "task/doorbell.h"
#include "worker/protocol.h"

namespace pragma {

Peer::Peer(Doorbell doorbell, pid_t pid, UniqueFd pidfd)
    : doorbell_(std::move(doorbell)), pid_(pid), pidfd_(std::move(pidfd)) {}

Result<PeerReply> Peer::Send(pragma_command command, std::span<const std::uint32_t> sets,
                             Seconds limit) {
  const Doorbell::Reply reply = doorbell_.Ring(command, sets, pidfd_.get(), limit);
  if (reply.answer == Answer::kInterrupted)
    return Fail(ErrorKind::kInterrupted, "interrupted while a call ran");
  PeerReply result{.answer = reply.answer, .elapsed = reply.elapsed, .result = reply.result};
  result.page_altered = reply.altered;
  result.fp_mode_changed = doorbell_.page().fp_mode != 0;
  result.openmp_changed = doorbell_.page().openmp_changed != 0;
  if (!result.ok()) result.message = doorbell_.message();
  return result;
}

Result<void> Peer::Freeze() const { return FreezeProcess(pid_); }
Result<void> Peer::Thaw() const { return ThawProcess(pid_); }

void Peer::Kill() const { ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0); }

Seconds Peer::CpuTime() const {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    return Seconds{0};
  return Seconds{static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9};
}

// The tenth field of /proc/PID/stat. The second one, the name, may contain anything but ends with
// the last parenthesis.
std::uint64_t Peer::PageFaults() const {
  const Result<std::string> read = ReadFile(fmt::format("/proc/{}/stat", pid_));
  if (!read) return 0;
  std::istringstream fields(read->substr(read->rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 7; ++i) fields >> skipped;
  std::uint64_t faults = 0;
  fields >> faults;
  return fields ? faults : 0;
}

}  // namespace pragma
