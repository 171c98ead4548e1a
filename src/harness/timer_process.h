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
#include "task/torch_server.h"

namespace pragma {

class TimerProcess final {
 public:
  // Serves the first `sets` sets of the ring.
  [[nodiscard]] static Result<TimerProcess> Start(TorchServer& server, const Ring& ring,
                                                  std::size_t sets, TimerMode mode,
                                                  Allocator allocator);
  // Builds the modules; in compile mode also compiles. Failures are ours (the reference is
  // trusted).
  [[nodiscard]] Result<void> Load(Seconds limit);
  // On a device the sets are brought over first, untimed.
  [[nodiscard]] Result<Nanoseconds> Run(std::span<const std::uint32_t> sets, Seconds limit);
  [[nodiscard]] Result<Nanoseconds> RunEmpty(std::span<const std::uint32_t> sets, Seconds limit);
  [[nodiscard]] Peer& peer() { return *peer_; }
  TimerProcess(TimerProcess&&) noexcept = default;
  TimerProcess& operator=(TimerProcess&&) noexcept = default;
  // Ends the child.
  ~TimerProcess();

 private:
  TimerProcess(std::unique_ptr<Peer> peer, bool copies) : peer_(std::move(peer)), copies_(copies) {}
  [[nodiscard]] Result<Nanoseconds> Send(pragma_command command,
                                         std::span<const std::uint32_t> sets, Seconds limit);
  std::unique_ptr<Peer> peer_;
  bool copies_ = false;  // its tensors lie on a device
};

}  // namespace pragma
