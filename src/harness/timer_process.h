// TimerProcess: a timing child of pragma_torch that runs eager PyTorch or torch.compile on the same
// ring as the candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "harness/peer.h"
#include "harness/ring.h"
#include "task/referee.h"
#include "task/torch_server.h"

namespace pragma {

class TimerProcess final {
 public:
  // Starts a child that works on the first `sets` sets of the ring.
  [[nodiscard]] static Result<TimerProcess> Start(TorchServer& server, const Ring& ring,
                                                  std::size_t sets, TimerMode mode,
                                                  Allocator allocator);
  // Starts a child on a device, in the area with this number (task/referee.h).
  [[nodiscard]] static Result<TimerProcess> StartOnDevice(TorchServer& server, Referee& referee,
                                                          std::size_t area, TimerMode mode);
  // Builds the modules and, in compile mode, compiles them. A failure is pragma's own error,
  // because the reference is trusted.
  [[nodiscard]] Result<void> Load(Seconds limit);
  [[nodiscard]] Result<Nanoseconds> Run(std::span<const std::uint32_t> sets, Seconds limit);
  [[nodiscard]] Result<Nanoseconds> RunEmpty(std::span<const std::uint32_t> sets, Seconds limit);
  // Makes the device switch to this process. Not timed.
  [[nodiscard]] Result<void> Wake(Seconds limit);
  // Gives back device memory that the child keeps from freed blocks. Where results are large, this
  // is most of the memory.
  [[nodiscard]] Result<void> Release(Seconds limit);
  [[nodiscard]] Peer& peer() { return *peer_; }
  TimerProcess(TimerProcess&&) noexcept = default;
  TimerProcess& operator=(TimerProcess&&) noexcept = default;
  // Ends the child.
  ~TimerProcess();

 private:
  explicit TimerProcess(std::unique_ptr<Peer> peer) : peer_(std::move(peer)) {}
  [[nodiscard]] Result<Nanoseconds> Send(pragma_command command,
                                         std::span<const std::uint32_t> sets, Seconds limit);
  std::unique_ptr<Peer> peer_;
};

}  // namespace pragma
