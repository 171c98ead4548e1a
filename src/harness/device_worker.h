// DeviceWorker: one process of a candidate on a device. It computes in a memory area that the
// referee owns (task/referee.h).
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
#include "harness/timed_process.h"
#include "harness/worker_process.h"
#include "harness/worker_zygote.h"
#include "sandbox/jail.h"
#include "task/referee.h"
#include "task/torch_channel.h"

namespace pragma {

class ReadyWorkers;

// What a candidate's processes are started from: either a zygote or a CUDA program. All pointers
// are borrowed.
struct DeviceProgram {
  WorkerZygote* zygote = nullptr;     // for a Triton module
  const CudaProgram* cuda = nullptr;  // for a CUDA candidate
  ReadyWorkers* ready = nullptr;      // its processes that were started ahead of time
};

class DeviceWorker final : public TimedProcess {
 public:
  // Starts the process without loading the candidate. Everything that `program` points to must
  // outlive it.
  [[nodiscard]] static Result<DeviceWorker> Start(const DeviceProgram& program, Referee& referee,
                                                  std::size_t area, const WorkerOptions& options);
  DeviceWorker(DeviceWorker&&) noexcept = default;
  DeviceWorker& operator=(DeviceWorker&&) noexcept = default;
  ~DeviceWorker() override;

  // Creates the device's context and memory for a CUDA candidate. The candidate need not exist yet.
  // Returns an Error if the device cannot be started.
  [[nodiscard]] Result<void> WarmUp();
  [[nodiscard]] Result<ProcessFailure> Load() override;
  [[nodiscard]] Result<ProcessFailure> Run(std::span<const std::uint32_t> sets,
                                           Nanoseconds* elapsed) override;
  // The cost includes a wait for an idle device.
  [[nodiscard]] Result<ProcessFailure> RunEmpty(std::span<const std::uint32_t> sets,
                                                Nanoseconds* elapsed) override;
  [[nodiscard]] Result<ProcessFailure> Repeat(std::uint32_t set, std::uint32_t times,
                                              Nanoseconds* elapsed) override;
  [[nodiscard]] Result<ProcessFailure> Deliver(std::uint32_t set) override;
  [[nodiscard]] Result<ProcessFailure> Wake() override;
  [[nodiscard]] Result<ProcessFailure> Freeze() override;
  [[nodiscard]] Result<void> Thaw() override;
  void Kill() override {
    if (peer_ != nullptr) peer_->Kill();
  }
  [[nodiscard]] std::size_t area() const override { return area_; }
  // With a seed other than 0, random bytes are written before each call of the next command. They
  // go to all device memory in which an earlier call may have left something
  // (pragma_control::scramble).
  void ScrambleNext(std::uint32_t seed) {
    if (peer_ != nullptr) peer_->doorbell().ScrambleNext(seed);
  }
  // Reads or writes the memory that a CUDA candidate keeps on the device: variables of its device
  // code and scratch memory, at most PRAGMA_KEPT_BYTES. A Triton module has none. Every process of
  // one candidate reports the same bytes in the same order.
  [[nodiscard]] Result<ProcessFailure> ReadKept(std::vector<std::byte>* bytes);
  [[nodiscard]] Result<ProcessFailure> WriteKept(std::span<const std::byte> bytes);
  // True for a CUDA candidate: the process is pragma's own program with the candidate's code in it,
  // not a Python interpreter.
  [[nodiscard]] bool native() const { return cuda_ != nullptr && peer_ != nullptr; }
  [[nodiscard]] pid_t pid() const { return child_.host_pid; }

 private:
  DeviceWorker(const DeviceProgram& program, std::size_t area, const WorkerOptions& options)
      : options_(options), area_(area), zygote_(program.zygote), cuda_(program.cuda) {}
  [[nodiscard]] Result<void> Fork(int area_fd);
  [[nodiscard]] Result<void> StartJail(const Referee::SharedArea& shared);
  [[nodiscard]] Result<ProcessFailure> Send(pragma_command command,
                                            std::span<const std::uint32_t> sets, Seconds limit,
                                            Nanoseconds* elapsed);
  [[nodiscard]] WorkerFailure Explain(const PeerReply& reply, Seconds limit);
  [[nodiscard]] WorkerFailure Killed(std::string reason);
  [[nodiscard]] WorkerFailure Died();
  [[nodiscard]] std::string ReadLog() const;
  [[nodiscard]] bool LeftOthers() const;

  WorkerOptions options_;
  std::size_t area_;
  WorkerZygote* zygote_;  // nullptr: the process has its own jail
  // The program the process was started from; nullptr for a Triton module. The next four members
  // belong to a CUDA candidate's process.
  const CudaProgram* cuda_;
  std::optional<JailedProcess> jailed_;
  std::optional<TorchChannel> object_;
  UniqueFd log_;
  SharedMemory kept_;
  bool looped_ = false;  // what the last call of a Repeat returned is there
  WorkerChild child_;
  std::unique_ptr<Peer> peer_;  // nullptr: the module kept it from being started
};

// Processes in the candidate's area whose device starts while the candidate is still being built.
class ReadyWorkers final {
 public:
  ReadyWorkers() = default;
  ReadyWorkers(const ReadyWorkers&) = delete;
  ReadyWorkers& operator=(const ReadyWorkers&) = delete;
  ~ReadyWorkers();
  // Starts `count` processes. Everything that `program` points to must outlive this object.
  [[nodiscard]] Result<void> Start(const DeviceProgram& program, Referee& referee, std::size_t area,
                                   const WorkerOptions& options, int count);
  [[nodiscard]] bool Has(std::size_t area) const { return area == area_ && !workers_.empty(); }
  // Returns one process. Waits until its device has started.
  [[nodiscard]] Result<DeviceWorker> Take();

 private:
  struct Starting {
    explicit Starting(DeviceWorker started) : worker(std::move(started)) {}
    DeviceWorker worker;
    std::future<Result<void>> ready;  // declared last, so destroyed first: it uses the worker
  };
  std::size_t area_ = 0;
  std::deque<std::unique_ptr<Starting>> workers_;
};

}  // namespace pragma
