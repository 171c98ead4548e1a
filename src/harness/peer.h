// Peer: one measured process (a jailed worker or a timing child) that waits on its doorbell.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "task/doorbell.h"

namespace pragma {

struct PeerReply {
  Answer answer = Answer::kDone;
  Nanoseconds elapsed{0};
  std::uint32_t result = 0;      // enum pragma_result
  std::string message;           // untrusted text, set when result is not PRAGMA_OK
  bool page_altered = false;     // the process wrote to a part of the page that only pragma writes
  bool fp_mode_changed = false;  // as the worker reports it; a candidate gains nothing by hiding it
  bool openmp_changed = false;   // as the worker reports it
  [[nodiscard]] bool ok() const { return answer == Answer::kDone && result == PRAGMA_OK; }
};

class Peer final {
 public:
  Peer(Doorbell doorbell, pid_t pid, UniqueFd pidfd);

  // An error if a request to stop came while the call ran.
  [[nodiscard]] Result<PeerReply> Send(pragma_command command, std::span<const std::uint32_t> sets,
                                       Seconds limit);
  // Freeze sends SIGSTOP and waits until every thread is stopped. Thaw sends SIGCONT.
  [[nodiscard]] Result<void> Freeze() const;
  [[nodiscard]] Result<void> Thaw() const;
  // Sends SIGKILL through the pidfd, so that a reused process id is never hit.
  void Kill() const;
  [[nodiscard]] pid_t pid() const { return pid_; }
  // CPU time that all its threads have used so far, as accounted by the operating system.
  [[nodiscard]] Seconds CpuTime() const;
  // Page faults of all its threads so far that needed no disk. 0 if the system does not say.
  [[nodiscard]] std::uint64_t PageFaults() const;
  [[nodiscard]] Doorbell& doorbell() { return doorbell_; }

 private:
  Doorbell doorbell_;
  pid_t pid_;
  UniqueFd pidfd_;
};

}  // namespace pragma
