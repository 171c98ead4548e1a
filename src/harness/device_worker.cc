#include "harness/device_worker.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "core/status.h"
#include "harness/cuda_program.h"
#include "harness/peer.h"
#include "harness/timed_process.h"
#include "harness/worker_failure.h"
#include "harness/worker_process.h"
#include "harness/worker_zygote.h"
#include "sandbox/jail.h"
#include "task/doorbell.h"
#include "task/referee.h"
#include "worker/protocol.h"

namespace pragma {
namespace {

constexpr Seconds kReportLimit{10};  // for a jail's init to report how its program died

bool IsDead(const UniqueFd& pidfd) {
  pollfd waiter{pidfd.get(), POLLIN, 0};
  return ::poll(&waiter, 1, 0) > 0;
}

}  // namespace

Result<DeviceWorker> DeviceWorker::Start(const DeviceProgram& program, Referee& referee,
                                         std::size_t area, const WorkerOptions& options) {
  if (program.ready != nullptr && program.ready->Has(area)) return program.ready->Take();
  DeviceWorker worker(program, area, options);
  const Referee::SharedArea shared = TRY(referee.Share(
      area, program.cuda != nullptr ? Referee::AreaKind::kModule : Referee::AreaKind::kTriton));
  TRY(program.cuda != nullptr ? worker.StartJail(shared) : worker.Fork(shared.end.get()));
  return worker;
}

Result<void> DeviceWorker::Fork(int area_fd) {
  Doorbell control = TRY(Doorbell::Create());
  std::optional<WorkerChild> child = TRY(zygote_->Fork(control.fd(), area_fd));
  if (!child) return {};
  child_ = std::move(*child);
  peer_ = std::make_unique<Peer>(std::move(control), child_.host_pid,
                                 UniqueFd(::dup(child_.pidfd.get())));
  return {};
}

Result<void> DeviceWorker::StartJail(const Referee::SharedArea& shared) {
  CudaProcess process = TRY(cuda_->Start(shared));
  log_ = std::move(process.log);
  kept_ = std::move(process.kept);
  object_ = std::move(process.object);
  jailed_ = std::move(process.jailed);
  child_.host_pid = jailed_->host_pid();
  child_.pidfd = UniqueFd(::dup(jailed_->pidfd()));
  peer_ = std::make_unique<Peer>(std::move(process.control), child_.host_pid,
                                 UniqueFd(::dup(child_.pidfd.get())));
  return {};
}

DeviceWorker::~DeviceWorker() {
  Kill();  // the zygote or the jail's init reaps it; SIGKILL also ends a stopped process
}

Result<void> DeviceWorker::WarmUp() {
  const std::optional<WorkerFailure> failure =
      TRY(Send(PRAGMA_START, {}, options_.python_load_limit, nullptr));
  if (!failure) return {};
  return Fail("a process for CUDA candidates does not start: " + failure->reason);
}

Result<ProcessFailure> DeviceWorker::Load() {
  if (cuda_ != nullptr) TRY(cuda_->HandOver(peer_->doorbell().page(), *object_));
  return Send(PRAGMA_LOAD, {}, options_.python_load_limit, nullptr);
}

Result<ProcessFailure> DeviceWorker::Run(std::span<const std::uint32_t> sets,
                                         Nanoseconds* elapsed) {
  return Send(PRAGMA_RUN, sets, options_.BurstLimit(sets.size()), elapsed);
}

Result<ProcessFailure> DeviceWorker::Repeat(std::uint32_t set, std::uint32_t times,
                                            Nanoseconds* elapsed) {
  peer_->doorbell().RepeatNext(times);
  looped_ = true;
  return Run({&set, 1}, elapsed);
}

Result<ProcessFailure> DeviceWorker::RunEmpty(std::span<const std::uint32_t> sets,
                                              Nanoseconds* elapsed) {
  return Send(PRAGMA_EMPTY, sets, options_.load_limit, elapsed);
}

Result<ProcessFailure> DeviceWorker::Deliver(std::uint32_t set) {
  if (!std::exchange(looped_, false)) return ProcessFailure();
  return Send(PRAGMA_DELIVER, {&set, 1}, options_.BurstLimit(1), nullptr);
}

Result<ProcessFailure> DeviceWorker::Wake() {
  return Send(PRAGMA_WAKE, {}, options_.load_limit, nullptr);
}

Result<ProcessFailure> DeviceWorker::ReadKept(std::vector<std::byte>* bytes) {
  bytes->clear();
  if (kept_.size() == 0) return ProcessFailure();
  auto failure = TRY(Send(PRAGMA_KEPT_READ, {}, options_.load_limit, nullptr));
  if (failure) return failure;
  pragma_kept head{};
  std::memcpy(&head, kept_.data(), sizeof(head));
  const std::size_t size = std::min<std::uint64_t>(head.bytes, PRAGMA_KEPT_BYTES);
  const auto begin = kept_.bytes().subspan(sizeof(head), size);
  bytes->assign(begin.begin(), begin.end());
  TRY(kept_.Discard());
  return failure;
}

Result<ProcessFailure> DeviceWorker::WriteKept(std::span<const std::byte> bytes) {
  if (kept_.size() == 0) return ProcessFailure();
  const pragma_kept head{.bytes = std::min<std::uint64_t>(bytes.size(), PRAGMA_KEPT_BYTES)};
  std::memcpy(kept_.data(), &head, sizeof(head));
  std::memcpy(kept_.data() + sizeof(head), bytes.data(), head.bytes);
  auto failure = TRY(Send(PRAGMA_KEPT_WRITE, {}, options_.load_limit, nullptr));
  TRY(kept_.Discard());
  return failure;
}

Result<ProcessFailure> DeviceWorker::Send(pragma_command command,
                                          std::span<const std::uint32_t> sets, Seconds limit,
                                          Nanoseconds* elapsed) {
  if (peer_ == nullptr) {
    return std::optional(WorkerFailure{
        .status = Status::kSandboxViolation,
        .reason = "the module ended the process that starts its processes; only its own may end",
        .log = ReadLog()});
  }
  const PeerReply reply = TRY(peer_->Send(command, sets, limit));
  if (elapsed != nullptr) *elapsed = reply.elapsed;
  if (!reply.ok()) return std::optional(Explain(reply, limit));
  if (reply.page_altered) {
    return std::optional(Killed("the kernel wrote to the page through which it is called"));
  }
  if (command == PRAGMA_RUN && LeftOthers()) {
    return std::optional(
        Killed("it left a process running; only its own threads may live on after a call"));
  }
  return ProcessFailure();
}

std::string DeviceWorker::ReadLog() const {
  return zygote_ != nullptr ? zygote_->ReadLog() : ReadWorkerLog(log_.get());
}

bool DeviceWorker::LeftOthers() const {
  return zygote_ != nullptr ? !LeftNothing(peer_->pid()) : !RunsAlone(peer_->pid());
}

WorkerFailure DeviceWorker::Killed(std::string reason) {
  Kill();
  return {.status = Status::kSandboxViolation, .reason = std::move(reason), .log = ReadLog()};
}

WorkerFailure DeviceWorker::Died() {
  const WorkerKind kind = zygote_ != nullptr ? WorkerKind::kPython : WorkerKind::kCuda;
  std::optional<Outcome> outcome;
  if (zygote_ != nullptr) {
    outcome = zygote_->EndOf(child_);
  } else if (Result<std::optional<Outcome>> told = jailed_->WaitFor(kReportLimit)) {
    outcome = *told;
  }
  if (outcome) return FailureFromDeath(*outcome, ReadLog(), kind);
  return {.status = Status::kCrashed,
          .reason = "the candidate's process died; its exit status could not be recovered",
          .log = ReadLog()};
}

WorkerFailure DeviceWorker::Explain(const PeerReply& reply, Seconds limit) {
  if (reply.answer == Answer::kDied) return Died();
  peer_->Kill();
  if (reply.answer == Answer::kTimeout) return FailureFromSilence(limit, ReadLog());
  return FailureFromReply(reply, ReadLog());
}

Result<void> DeviceWorker::Thaw() {
  if (peer_ == nullptr) return {};
  return peer_->Thaw();
}

Result<ProcessFailure> DeviceWorker::Freeze() {
  if (peer_ == nullptr || !peer_->Freeze()) {
    return std::optional(
        Killed("a thread of the candidate cannot be stopped: it waits where no signal reaches it"));
  }
  if (!IsDead(child_.pidfd)) return ProcessFailure();
  WorkerFailure failure = Died();
  failure.reason += "; it happened between two calls";
  return std::optional(std::move(failure));
}

Result<void> ReadyWorkers::Start(const DeviceProgram& program, Referee& referee, std::size_t area,
                                 const WorkerOptions& options, int count) {
  area_ = area;
  for (int i = 0; i < count; ++i) {
    DeviceWorker worker =
        TRY(DeviceWorker::Start({.zygote = program.zygote, .cuda = program.cuda, .ready = nullptr},
                                referee, area, options));
    Starting& starting = *workers_.emplace_back(std::make_unique<Starting>(std::move(worker)));
    starting.ready =
        std::async(std::launch::async, [&starting] { return starting.worker.WarmUp(); });
  }
  return {};
}

// Processes that are still starting are killed, not waited for.
ReadyWorkers::~ReadyWorkers() {
  for (const std::unique_ptr<Starting>& starting : workers_) starting->worker.Kill();
}

Result<DeviceWorker> ReadyWorkers::Take() {
  const std::unique_ptr<Starting> first = std::move(workers_.front());
  workers_.pop_front();
  TRY(first->ready.get());
  return std::move(first->worker);
}

}  // namespace pragma
