// DeviceWorker: one process of a candidate on a device, computing in an area of the referee's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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
#include "base/shared_memory.h"
#include "harness/cuda_program.h"
#include "harness/peer.h"
#include "harness/worker_process.h"
#include "harness/worker_zygote.h"
#include "sandbox/jail.h"
#include "task/referee.h"
#include "task/torch_channel.h"

namespace pragma {

class ReadyWorkers;

// What a candidate's processes are started from: a zygote or a program. Borrowed.
struct DeviceProgram {
  WorkerZygote* zygote = nullptr;     // a Triton module's
  const CudaProgram* cuda = nullptr;  // a CUDA candidate's
  ReadyWorkers* ready = nullptr;      // of these, what was started ahead
};

class DeviceWorker final {
 public:
  // Started, nothing loaded. What the program names outlives it.
  [[nodiscard]] static Result<DeviceWorker> Start(const DeviceProgram& program, Referee& referee,
                                                  std::size_t area, const WorkerOptions& options);
  DeviceWorker(DeviceWorker&&) noexcept = default;
  DeviceWorker& operator=(DeviceWorker&&) noexcept = default;
  ~DeviceWorker();

  // Starts the device, for a CUDA candidate that need not be there yet. An Error: the device does
  // not start.
  [[nodiscard]] Result<void> WarmUp();
  // nullopt: fine. After a failure the process is dead.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Load();
  // Calls run for each listed set and waits for the device; `elapsed` is the parent's clock.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Run(std::span<const std::uint32_t> sets,
                                                         Nanoseconds* elapsed);
  // The doorbell's own cost, with a wait for an idle device.
  [[nodiscard]] Result<std::optional<WorkerFailure>> RunEmpty(std::span<const std::uint32_t> sets,
                                                              Nanoseconds* elapsed);
  // A seed other than 0: before each call of the next command, random bytes in whatever of the
  // device's memory an earlier call may have left something in (pragma_control::scramble).
  void ScrambleNext(std::uint32_t seed) {
    if (peer_ != nullptr) peer_->doorbell().ScrambleNext(seed);
  }
  // A CUDA candidate's kept memory on the device (variables of its device code, scratch memory), at
  // most PRAGMA_KEPT_BYTES of it. A Triton module has none. Of another process of the candidate's
  // it has the same bytes in the same order.
  [[nodiscard]] Result<std::optional<WorkerFailure>> ReadKept(std::vector<std::byte>* bytes);
  [[nodiscard]] Result<std::optional<WorkerFailure>> WriteKept(std::span<const std::byte> bytes);
  // The device switches to this process; not timed.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Wake();
  [[nodiscard]] Result<std::optional<WorkerFailure>> Freeze();
  [[nodiscard]] Result<void> Thaw() const;
  // A program of ours with the candidate's code in it, not an interpreter.
  [[nodiscard]] bool native() const { return cuda_ != nullptr && peer_ != nullptr; }
  [[nodiscard]] pid_t pid() const { return child_.host_pid; }
  void Kill() const {
    if (peer_ != nullptr) peer_->Kill();
  }

 private:
  DeviceWorker(const DeviceProgram& program, const WorkerOptions& options)
      : options_(options), zygote_(program.zygote), cuda_(program.cuda) {}
  [[nodiscard]] Result<void> Fork(int area_fd);
  [[nodiscard]] Result<void> StartJail(const Referee::SharedArea& shared);
  [[nodiscard]] Result<std::optional<WorkerFailure>> Send(pragma_command command,
                                                          std::span<const std::uint32_t> sets,
                                                          Seconds limit, Nanoseconds* elapsed);
  [[nodiscard]] WorkerFailure Explain(const PeerReply& reply, Seconds limit);
  [[nodiscard]] WorkerFailure Killed(std::string reason);
  [[nodiscard]] WorkerFailure Died();
  [[nodiscard]] std::string ReadLog() const;
  [[nodiscard]] bool LeftOthers() const;

  WorkerOptions options_;
  WorkerZygote* zygote_;     // nullptr: it has a jail of its own
  const CudaProgram* cuda_;  // which was started from this; its own are
  std::optional<JailedProcess> jailed_;
  std::optional<TorchChannel> object_;
  UniqueFd log_;
  SharedMemory kept_;
  WorkerChild child_;
  std::unique_ptr<Peer> peer_;  // nullptr: it could not be started, which is the module's doing
};

// Processes in an area of the candidate's side whose device starts while the candidate is built.
class ReadyWorkers final {
 public:
  ReadyWorkers() = default;
  ReadyWorkers(const ReadyWorkers&) = delete;
  ReadyWorkers& operator=(const ReadyWorkers&) = delete;
  ~ReadyWorkers();
  // What the program names outlives it.
  [[nodiscard]] Result<void> Start(const DeviceProgram& program, Referee& referee, std::size_t area,
                                   const WorkerOptions& options, int count);
  [[nodiscard]] bool Has(std::size_t area) const { return area == area_ && !workers_.empty(); }
  // Once its device has started.
  [[nodiscard]] Result<DeviceWorker> Take();

 private:
  struct Starting {
    explicit Starting(DeviceWorker started) : worker(std::move(started)) {}
    DeviceWorker worker;
    std::future<Result<void>> ready;  // destroyed first: it uses the worker
  };
  std::size_t area_ = 0;
  std::deque<std::unique_ptr<Starting>> workers_;
};

}  // namespace pragma
