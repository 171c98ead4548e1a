#include "verify/turn.h"

#include "base/result.h"
#include "core/evaluation.h"
#include "machine/machine.h"
#include "verify/judging.h"

namespace pragma {

Result<void> Turn::Share() {
  if (lock_) return {};
  lock_ = TRY(MachineLock::Take(MachineLock::Kind::kShared, device_));
  return {};
}

Result<void> Turn::BeAlone(Evaluation& evaluation) {
  if (alone_) return {};
  Leave();
  const PhaseTimer timer(evaluation, "time_lock");
  lock_ = TRY(MachineLock::Take(MachineLock::Kind::kExclusive, device_));
  alone_ = true;
  return {};
}

}  // namespace pragma
