#include "harness/worker_failure.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/text.h"
#include "core/status.h"
#include "harness/peer.h"
#include "sandbox/jail.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

constexpr std::size_t kMaxLogBytes = 4000;

constexpr const char* kForbiddenCall =
    "the kernel used a forbidden system call; it may only compute, allocate memory "
    "and use OpenMP threads (no files, processes, sockets or new executable memory)";
constexpr const char* kForbiddenCallInPython =
    "ModelNew used a forbidden system call: no network, no tracing of processes, no mounts, and no "
    "new processes after its first run (compile at import or in the constructor)";

constexpr const char* kForbiddenCallInCuda =
    "host code used a forbidden system call; it may only launch kernels (no files, threads, "
    "processes, sockets or new executable memory)";

const char* ForbiddenCall(WorkerKind kind) {
  switch (kind) {
    case WorkerKind::kNative: return kForbiddenCall;
    case WorkerKind::kPython: return kForbiddenCallInPython;
    case WorkerKind::kCuda: return kForbiddenCallInCuda;
  }
  return "";
}

}  // namespace

WorkerFailure FailureFromDeath(const Outcome& outcome, std::string log, WorkerKind kind) {
  const bool python = kind == WorkerKind::kPython;
  WorkerFailure failure{
      .status = Status::kCrashed, .reason = outcome.Describe(), .log = std::move(log)};
  const bool signalled = outcome.kind == Outcome::Kind::kSignalled;
  if (signalled && outcome.code == SIGSYS) {
    failure.status = Status::kSandboxViolation;
    failure.reason = ForbiddenCall(kind);
  } else if (python && signalled && outcome.code == SIGSEGV) {
    failure.reason += "; inputs and parameters cannot be written";
  } else if (signalled && outcome.code == SIGKILL) {
    failure.status = Status::kOutOfMemory;
    failure.reason = "killed by the operating system, most likely for lack of memory";
  } else if (signalled && outcome.code == SIGABRT && failure.log.contains("bad_alloc")) {
    failure.status = Status::kOutOfMemory;
    failure.reason = "aborted after std::bad_alloc: it asked for more memory than its limit allows";
  } else if (outcome.kind == Outcome::Kind::kExited) {
    failure.reason = fmt::format("the kernel ended its process (exit code {}) instead of returning",
                                 outcome.code);
  }
  return failure;
}

WorkerFailure FailureFromReply(const PeerReply& reply, std::string log) {
  const std::string said = ToValidUtf8(reply.message);
  WorkerFailure failure{.status = Status::kLoadError,
                        .reason = "cannot load the kernel: " + said,
                        .log = std::move(log)};
  if (reply.result == PRAGMA_RAISED) failure = {Status::kCrashed, said, std::move(failure.log)};
  if (reply.result == PRAGMA_WRONG_FORM) {
    failure = {Status::kWrongShape, said, std::move(failure.log)};
  }
  if (reply.result == PRAGMA_REFUSED)
    failure = {Status::kRejectedSource, said, std::move(failure.log)};
  const bool memory = said.contains("MemoryError") || said.contains("you tried to allocate");
  if (memory) failure.status = Status::kOutOfMemory;
  return failure;
}

WorkerFailure FailureFromSilence(Seconds limit, std::string log) {
  return {.status = Status::kTimeout,
          .reason = fmt::format(
              "no result within the limit of {}: an endless loop, a deadlock, or far too slow",
              FormatSeconds(limit.count())),
          .log = std::move(log)};
}

Result<LogPipe> MakeLogPipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    return FailErrno("cannot create a log pipe");
  return LogPipe{.ours = UniqueFd(ends[0]), .end = UniqueFd(ends[1])};
}

std::string ReadWorkerLog(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t n = 0;
  while ((n = ::read(fd, buffer.data(), buffer.size())) > 0 && text.size() < 4 * kMaxLogBytes) {
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return Shorten(ToValidUtf8(text), kMaxLogBytes);
}

}  // namespace pragma
