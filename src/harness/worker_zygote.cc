#include "harness/worker_zygote.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "sandbox/jail.h"
#include "task/torch_channel.h"

namespace pragma {
namespace {

constexpr int kControlFd = 3;
// Covers the import of Torch and Triton from a cold disk.
constexpr Seconds kImportLimit{120};
constexpr Seconds kForkLimit{20};
// Memory of all processes in the jail: a few hundred MiB each, and running compilers.
constexpr std::size_t kMemory = std::size_t{16} << 30U;
constexpr int kProcesses = 1024;  // includes threads: the driver starts several in each

}  // namespace

Result<WorkerZygote> WorkerZygote::Start(const Jail& jail, JailSpec spec,
                                         const WorkerOptions& options) {
  // The host side only launches kernels and waits. With bound threads, the first threads of all
  // processes would share a processor.
  spec.env["OMP_NUM_THREADS"] = "1";
  // CUDA reserves far more address space than there is memory.
  spec.limits.address_space_bytes = 0;
  spec.limits.memory_bytes = kMemory + options.memory_allowance_bytes;
  spec.limits.processes = kProcesses;
  LogPipe log = TRY(MakeLogPipe());
  UniqueFd theirs;
  TorchChannel channel = TRY(TorchChannel::Create(theirs));
  spec.fds = {{theirs.get(), kControlFd}, {log.end.get(), 1}, {log.end.get(), 2}};
  return WorkerZygote(std::move(channel), TRY(jail.Start(spec)), std::move(log.ours));
}

Result<std::optional<WorkerChild>> WorkerZygote::Fork(int control_fd, int area_fd) {
  const std::scoped_lock lock(*asking_);
  UniqueFd ours;
  UniqueFd theirs;
  TRY(MakeCredentialPair(ours, theirs));
  JsonWriter request;
  request.BeginObject().Field("op", "fork").Field("module", module_);
  request.EndObject();
  const std::array<int, 3> fds{control_fd, area_fd, theirs.get()};
  const TimePoint deadline = After(greeted_ ? kForkLimit : kImportLimit);
  const bool sent = channel_.Send(request.Take(), fds, deadline);
  theirs.Reset();
  const TorchChannel::Received reply = channel_.Receive(deadline);
  if (reply.event == TorchChannel::Event::kInterrupted) {
    return Fail(ErrorKind::kInterrupted, "interrupted while starting a Triton worker");
  }
  WorkerChild child;
  if (sent && reply.event == TorchChannel::Event::kLine) {
    const auto said = JsonReader::Parse(reply.line, "reply of pragma_triton");
    if (said) said->Get("pid", child.inside);
    child.host_pid = child.inside > 0 ? ReceiveSenderPid(ours.get(), After(kForkLimit)) : -1;
  }
  if (child.host_pid <= 0) {
    if (greeted_) return std::optional<WorkerChild>();
    return Fail(ErrorKind::kUnavailable,
                "Triton does not start in its jail: " + ReadWorkerLog(log_.get()));
  }
  greeted_ = true;
  // The child waits on its doorbell, so the process id cannot have been reused.
  child.pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, child.host_pid, 0)));
  if (!child.pidfd.valid()) return FailErrno("cannot open a pidfd of a Triton worker");
  return std::optional(std::move(child));
}

std::optional<Outcome> WorkerZygote::EndOf(const WorkerChild& child) {
  const std::scoped_lock lock(*asking_);
  JsonWriter request;
  request.BeginObject().Field("op", "end").Field("pid", child.inside).EndObject();
  const TimePoint deadline = After(kForkLimit);
  if (!channel_.Send(request.Take(), {}, deadline)) return std::nullopt;
  const TorchChannel::Received reply = channel_.Receive(deadline);
  if (reply.event != TorchChannel::Event::kLine) return std::nullopt;
  const auto said = JsonReader::Parse(reply.line, "reply of pragma_triton");
  int status = -1;
  if (said) said->Get("status", status);
  if (status < 0) return std::nullopt;
  return Outcome::FromStatus(status);
}

}  // namespace pragma
