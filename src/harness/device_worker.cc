#include "harness/device_worker.h"

#include <poll.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/doorbell.h"
#include "base/fd.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "harness/peer.h"
#include "harness/worker_failure.h"
#include "harness/worker_process.h"
#include "harness/worker_zygote.h"
#include "sandbox/jail.h"
#include "task/referee.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

bool IsDead(const UniqueFd& pidfd) {
  pollfd waiter{pidfd.get(), POLLIN, 0};
  return ::poll(&waiter, 1, 0) > 0;
}

}  // namespace

Result<DeviceWorker> DeviceWorker::Start(WorkerZygote& zygote, Referee& referee, std::size_t area,
                                         const WorkerOptions& options) {
  DeviceWorker worker(options);
  worker.zygote_ = &zygote;
  Doorbell control = TRY(Doorbell::Create());
  const UniqueFd memory = TRY(referee.Share(area, Referee::AreaKind::kModule));
  std::optional<WorkerChild> child = TRY(zygote.Fork(control.fd(), memory.get()));
  if (!child) return worker;
  worker.child_ = std::move(*child);
  worker.peer_ = std::make_unique<Peer>(std::move(control), worker.child_.host_pid,
                                        UniqueFd(::dup(worker.child_.pidfd.get())));
  return worker;
}

DeviceWorker::~DeviceWorker() {
  Kill();  // the zygote reaps it; SIGKILL also ends a stopped process
}

Result<std::optional<WorkerFailure>> DeviceWorker::Load() {
  return Send(PRAGMA_LOAD, {}, options_.python_load_limit, nullptr);
}

Result<std::optional<WorkerFailure>> DeviceWorker::Run(std::span<const std::uint32_t> sets,
                                                       Nanoseconds* elapsed) {
  return Send(PRAGMA_RUN, sets, options_.BurstLimit(sets.size()), elapsed);
}

Result<std::optional<WorkerFailure>> DeviceWorker::RunEmpty(std::span<const std::uint32_t> sets,
                                                            Nanoseconds* elapsed) {
  return Send(PRAGMA_EMPTY, sets, options_.load_limit, elapsed);
}

Result<std::optional<WorkerFailure>> DeviceWorker::Wake() {
  return Send(PRAGMA_WAKE, {}, options_.load_limit, nullptr);
}

Result<std::optional<WorkerFailure>> DeviceWorker::Send(pragma_command command,
                                                        std::span<const std::uint32_t> sets,
                                                        Seconds limit, Nanoseconds* elapsed) {
  if (peer_ == nullptr) {
    return std::optional(WorkerFailure{
        .status = Status::kSandboxViolation,
        .reason = "the module ended the process that starts its processes; only its own may end",
        .log = zygote_->ReadLog()});
  }
  const PeerReply reply = peer_->Send(command, sets, limit);
  if (elapsed != nullptr) *elapsed = reply.elapsed;
  if (!reply.ok()) return std::optional(Explain(reply, limit));
  if (reply.page_altered) {
    return std::optional(Killed("the kernel wrote to the page through which it is called"));
  }
  if (command == PRAGMA_RUN && !LeftNothing(peer_->pid())) {
    return std::optional(
        Killed("the module left a process running; only its own threads may live on after a call"));
  }
  return std::optional<WorkerFailure>();
}

WorkerFailure DeviceWorker::Killed(std::string reason) {
  Kill();
  return {
      .status = Status::kSandboxViolation, .reason = std::move(reason), .log = zygote_->ReadLog()};
}

WorkerFailure DeviceWorker::Died() {
  const std::optional<Outcome> outcome = zygote_->EndOf(child_);
  if (outcome) return FailureFromDeath(*outcome, zygote_->ReadLog(), WorkerKind::kPython);
  return {.status = Status::kCrashed,
          .reason = "the module's process died, and nobody is left who knows how",
          .log = zygote_->ReadLog()};
}

WorkerFailure DeviceWorker::Explain(const PeerReply& reply, Seconds limit) {
  if (reply.answer == Answer::kDied) return Died();
  peer_->Kill();
  if (reply.answer == Answer::kTimeout) return FailureFromSilence(limit, zygote_->ReadLog());
  return FailureFromReply(reply, zygote_->ReadLog());
}

Result<void> DeviceWorker::Thaw() const {
  if (peer_ == nullptr) return {};
  return peer_->Thaw();
}

Result<std::optional<WorkerFailure>> DeviceWorker::Freeze() {
  if (peer_ == nullptr || !peer_->Freeze()) {
    return std::optional(
        Killed("a thread of the module cannot be stopped: it waits where no signal reaches it"));
  }
  if (!IsDead(child_.pidfd)) return std::optional<WorkerFailure>();
  WorkerFailure failure = Died();
  failure.reason += "; it happened between two calls";
  return std::optional(std::move(failure));
}

}  // namespace pragma
