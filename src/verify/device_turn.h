// DeviceTurn: what one evaluation holds of the machine's lock for its GPU.
#pragma once

#include <optional>

#include "base/result.h"
#include "core/evaluation.h"
#include "machine/machine.h"
#include "verify/judging.h"

namespace pragma {

// It works beside others from its first context until its processes are ready, then is alone until
// it leaves. Left in between, it would wait for each timer that became ready meanwhile.
class DeviceTurn final {
 public:
  // `machine` outlives it.
  explicit DeviceTurn(const Machine& machine) : machine_(machine) {}

  // Does nothing where it holds the lock already, alone or not.
  [[nodiscard]] Result<void> Share() {
    if (lock_) return {};
    lock_ = TRY(MachineLock::Take(MachineLock::Kind::kShared, machine_.device));
    return {};
  }
  // How long others were waited for goes to the evaluation.
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
