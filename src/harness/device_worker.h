// DeviceWorker: one process of a Triton module, computing in an area of the referee's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "harness/peer.h"
#include "harness/worker_process.h"
#include "harness/worker_zygote.h"
#include "task/referee.h"

namespace pragma {

class DeviceWorker final {
 public:
  // Forked, nothing loaded. `zygote` outlives it.
  [[nodiscard]] static Result<DeviceWorker> Start(WorkerZygote& zygote, Referee& referee,
                                                  std::size_t area, const WorkerOptions& options);
  DeviceWorker(DeviceWorker&&) noexcept = default;
  DeviceWorker& operator=(DeviceWorker&&) noexcept = default;
  ~DeviceWorker();

  // nullopt: fine. After a failure the process is dead.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Load();
  // Calls run for each listed set and waits for the device; `elapsed` is the parent's clock.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Run(std::span<const std::uint32_t> sets,
                                                         Nanoseconds* elapsed);
  // The doorbell's own cost, with a wait for an idle device.
  [[nodiscard]] Result<std::optional<WorkerFailure>> RunEmpty(std::span<const std::uint32_t> sets,
                                                              Nanoseconds* elapsed);
  // The device switches to this process; not timed.
  [[nodiscard]] Result<std::optional<WorkerFailure>> Wake();
  [[nodiscard]] Result<std::optional<WorkerFailure>> Freeze();
  [[nodiscard]] Result<void> Thaw() const;
  void Kill() const {
    if (peer_ != nullptr) peer_->Kill();
  }

 private:
  explicit DeviceWorker(const WorkerOptions& options) : options_(options) {}
  [[nodiscard]] Result<std::optional<WorkerFailure>> Send(pragma_command command,
                                                          std::span<const std::uint32_t> sets,
                                                          Seconds limit, Nanoseconds* elapsed);
  [[nodiscard]] WorkerFailure Explain(const PeerReply& reply, Seconds limit);
  [[nodiscard]] WorkerFailure Killed(std::string reason);
  [[nodiscard]] WorkerFailure Died();

  WorkerOptions options_;
  WorkerZygote* zygote_ = nullptr;
  WorkerChild child_;
  std::unique_ptr<Peer> peer_;  // nullptr: it could not be started, which is the module's doing
};

}  // namespace pragma
