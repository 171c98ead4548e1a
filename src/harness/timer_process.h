// TimerProcess: a timing child of pragma_torch that runs eager PyTorch or torch.compile on the same
// ring as the candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "harness/peer.h"
#include "harness/ring.h"
#include "harness/timed_process.h"
#include "task/referee.h"
#include "task/torch_server.h"

namespace pragma {

// What a timing child on the processors runs, and how.
struct TimerSettings {
  TimerMode mode = TimerMode::kEager;
  Allocator allocator = Allocator::kDefault;
  std::size_t sets = 1;  // the first sets of the ring
  bool as_call = false;  // as WorkerOptions::as_call
};

class TimerProcess final : public TimedProcess {
 public:
  // Time limits for building the modules and, in compile mode, compiling them, and for one burst.
  struct Limits {
    Seconds load{300};
    Seconds burst{300};
  };
  // Starts a child that works on the ring's first sets.
  [[nodiscard]] static Result<TimerProcess> Start(TorchServer& server, const Ring& ring,
                                                  const TimerSettings& settings);
  // Starts a child on a device, in the area with this number (task/referee.h).
  [[nodiscard]] static Result<TimerProcess> StartOnDevice(TorchServer& server, Referee& referee,
                                                          std::size_t area, TimerMode mode,
                                                          const Limits& limits);
  TimerProcess(TimerProcess&&) noexcept = default;
  TimerProcess& operator=(TimerProcess&&) noexcept = default;
  // Ends the child.
  ~TimerProcess() override;

  // A failure of any of these is an Error, because the reference is trusted.
  [[nodiscard]] Result<ProcessFailure> Load() override;
  [[nodiscard]] Result<ProcessFailure> Run(std::span<const std::uint32_t> sets,
                                           Nanoseconds* elapsed) override;
  [[nodiscard]] Result<ProcessFailure> RunEmpty(std::span<const std::uint32_t> sets,
                                                Nanoseconds* elapsed) override;
  [[nodiscard]] Result<ProcessFailure> Repeat(std::uint32_t set, std::uint32_t times,
                                              Nanoseconds* elapsed) override;
  [[nodiscard]] Result<ProcessFailure> Deliver(std::uint32_t set) override;
  [[nodiscard]] Result<ProcessFailure> Wake() override;
  [[nodiscard]] Result<ProcessFailure> Freeze() override;
  [[nodiscard]] Result<void> Thaw() override { return peer_->Thaw(); }
  [[nodiscard]] Seconds CpuTime() const override { return peer_->CpuTime(); }
  [[nodiscard]] std::uint64_t PageFaults() const override { return peer_->PageFaults(); }
  // Where results are large, what the child keeps of freed blocks is most of the device's memory.
  [[nodiscard]] Result<void> Release() override;
  void Kill() override { peer_->Kill(); }
  [[nodiscard]] std::size_t area() const override { return area_.value_or(0); }

 private:
  TimerProcess(std::unique_ptr<Peer> peer, const Limits& limits)
      : peer_(std::move(peer)), limits_(limits) {}
  [[nodiscard]] Result<ProcessFailure> Send(pragma_command command,
                                            std::span<const std::uint32_t> sets, Seconds limit,
                                            Nanoseconds* elapsed);
  std::unique_ptr<Peer> peer_;
  Limits limits_;
  std::optional<std::size_t> area_;  // nullopt: it runs on processors
  bool looped_ = false;              // what the last call of a Repeat returned
};

}  // namespace pragma
