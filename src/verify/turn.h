// Turn: one evaluation's hold on the machine's lock, or on that of one GPU.
#pragma once

#include <optional>

#include "base/result.h"
#include "core/device.h"
#include "machine/machine.h"

namespace pragma {

struct Evaluation;

// An evaluation shares the machine while it builds and checks, and is alone on it while it times.
// On a GPU it shares the device from its first context until its processes are ready. If it
// released the lock in between, it would have to wait for each evaluation that became ready to time
// in the meantime.
class Turn final {
 public:
  // `device`: the GPU that it is for; nullopt: the processors.
  explicit Turn(const std::optional<Device>& device) : device_(device) {}

  // Takes the shared lock. Does nothing if the lock is already held, shared or exclusive.
  [[nodiscard]] Result<void> Share();
  // Takes the exclusive lock. The time spent waiting for other processes is reported separately as
  // "time_lock".
  [[nodiscard]] Result<void> BeAlone(Evaluation& evaluation);
  void Leave() {
    lock_.reset();
    alone_ = false;
  }

 private:
  std::optional<Device> device_;
  std::optional<MachineLock> lock_;
  bool alone_ = false;
};

}  // namespace pragma
