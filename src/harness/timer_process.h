// TimerProcess: a timing child of pragma_torch (eager or torch.compile) on the same ring.
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
  // Serves the first `sets` sets of the ring.
  [[nodiscard]] static Result<TimerProcess> Start(TorchServer& server, const Ring& ring,
                                                  std::size_t sets, TimerMode mode,
                                                  Allocator allocator);
  // On a device, in the area with this number (task/referee.h).
  [[nodiscard]] static Result<TimerProcess> StartOnDevice(TorchServer& server, Referee& referee,
                                                          std::size_t area, TimerMode mode);
  // Builds the modules; in compile mode also compiles. Failures are ours (the reference is
  // trusted).
  [[nodiscard]] Result<void> Load(Seconds limit);
  [[nodiscard]] Result<Nanoseconds> Run(std::span<const std::uint32_t> sets, Seconds limit);
  [[nodiscard]] Result<Nanoseconds> RunEmpty(std::span<const std::uint32_t> sets, Seconds limit);
  // The device switches to this process; not timed.
  [[nodiscard]] Result<void> Wake(Seconds limit);
  // The device's memory that it keeps of freed blocks: most of it, where results are large.
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
