// Peer: one measured process (a jailed worker or a timing child), blocked on its doorbell.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "task/doorbell.h"
#include "base/fd.h"
#include "base/result.h"

namespace pragma {

struct PeerReply {
  Answer answer = Answer::kDone;
  Nanoseconds elapsed{0};
  std::uint32_t result = 0;      // enum pragma_result
  std::string message;           // foreign text, when result is not PRAGMA_OK
  bool page_altered = false;     // it wrote where only pragma writes
  bool fp_mode_changed = false;  // what the worker says; nobody gains by hiding it
  bool openmp_changed = false;   // likewise
  [[nodiscard]] bool ok() const { return answer == Answer::kDone && result == PRAGMA_OK; }
};

class Peer final {
 public:
  Peer(Doorbell doorbell, pid_t pid, UniqueFd pidfd);

  [[nodiscard]] PeerReply Send(pragma_command command, std::span<const std::uint32_t> sets,
                               Seconds limit);
  // SIGSTOP, and wait until every thread is stopped; SIGCONT.
  [[nodiscard]] Result<void> Freeze() const;
  [[nodiscard]] Result<void> Thaw() const;
  // SIGKILL through the pidfd, so that a reused process id is never hit.
  void Kill() const;
  [[nodiscard]] pid_t pid() const { return pid_; }
  // CPU time of all its threads so far, as the operating system accounts it.
  [[nodiscard]] Seconds CpuTime() const;
  [[nodiscard]] Doorbell& doorbell() { return doorbell_; }

 private:
  Doorbell doorbell_;
  pid_t pid_;
  UniqueFd pidfd_;
};

}  // namespace pragma
