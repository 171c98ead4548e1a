// WorkerFailure: a value that says how a candidate failed, derived from what the operating system
// reports.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "core/status.h"
#include "harness/peer.h"
#include "sandbox/jail.h"

namespace pragma {

// The status of the failed candidate and a reason that a model can act on.
struct WorkerFailure {
  Status status = Status::kCrashed;
  std::string reason;
  std::string log;  // what the process printed, shortened; untrusted text
};

enum class WorkerKind { kNative, kPython, kCuda };

[[nodiscard]] WorkerFailure FailureFromDeath(const Outcome& outcome, std::string log,
                                             WorkerKind kind);
// What the process says about itself is shown but not believed. It only decides which rejection is
// reported.
[[nodiscard]] WorkerFailure FailureFromReply(const PeerReply& reply, std::string log);
[[nodiscard]] WorkerFailure FailureFromSilence(Seconds limit, std::string log);
// A pipe for what a candidate's processes print. `ours` is pragma's end, `end` is theirs.
struct LogPipe {
  UniqueFd ours;
  UniqueFd end;
};
[[nodiscard]] Result<LogPipe> MakeLogPipe();
// Reads what is available in a non-blocking pipe. The text is shortened and made valid.
[[nodiscard]] std::string ReadWorkerLog(int fd);

}  // namespace pragma
