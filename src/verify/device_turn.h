// DeviceTurn: one evaluation's hold on the machine's lock for its GPU.
#pragma once

#include <optional>

#include "base/result.h"
#include "core/evaluation.h"
#include "machine/machine.h"
#include "verify/judging.h"

namespace pragma {

// An evaluation shares the device from its first context until its processes are ready. It then has
// the device to itself until it calls Leave. If it released the lock in between, it would have to
// wait for each evaluation that became ready to time in the meantime.
class DeviceTurn final {
 public:
  // `machine` must outlive it.
  explicit DeviceTurn(const Machine& machine) : machine_(machine) {}

  // Takes the shared lock. Does nothing if the lock is already held, shared or exclusive.
  [[nodiscard]] Result<void> Share() {
    if (lock_) return {};
    lock_ = TRY(MachineLock::Take(MachineLock::Kind::kShared, machine_.device));
    return {};
  }
  // Takes the exclusive lock. The evaluation records how long it waited for other processes.
  [[nodiscard]] Result<void> BeAlone(Evaluation& evaluation) {
    if (alone_) return {};
    Leave();
    lock_ = TRY(TakeDevice(evaluation, machine_));
    alone_ = true;
    return {};
  }
  void Leave() {
    lock_.reset();
    alone_ = false;
  }

 private:
  const Machine& machine_;
  std::optional<MachineLock> lock_;
  bool alone_ = false;
};

}  // namespace pragma
