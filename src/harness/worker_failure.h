// WorkerFailure: how a candidate failed, as a value, from what the operating system tells.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "harness/peer.h"
#include "sandbox/jail.h"

namespace pragma {

// The status it deserves and a reason that a model can act on.
struct WorkerFailure {
  Status status = Status::kCrashed;
  std::string reason;
  std::string log;  // what it printed, shortened; foreign text
};

enum class WorkerKind { kNative, kPython, kCuda };

[[nodiscard]] WorkerFailure FailureFromDeath(const Outcome& outcome, std::string log,
                                             WorkerKind kind);
// What the process says about itself is shown, not believed: it chooses between rejections.
[[nodiscard]] WorkerFailure FailureFromReply(const PeerReply& reply, std::string log);
[[nodiscard]] WorkerFailure FailureFromSilence(Seconds limit, std::string log);
// For what a candidate's processes print; `end` is theirs.
struct LogPipe {
  UniqueFd ours;
  UniqueFd end;
};
[[nodiscard]] Result<LogPipe> MakeLogPipe();
// What is there of a pipe that does not block, shortened and made valid text.
[[nodiscard]] std::string ReadWorkerLog(int fd);

}  // namespace pragma
