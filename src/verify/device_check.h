// The checks of a candidate on a device: as value_check.h, with everything it is held against on
// the device.
#pragma once

#include <functional>
#include <list>
#include <vector>

#include "base/result.h"
#include "harness/device_worker.h"
#include "harness/worker_process.h"
#include "machine/machine.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/device_turn.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {

// The processes of one evaluation. They are killed or stopped when they have done their part, and
// waited for only once it is over: a context takes tenths of a second to end.
struct DeviceCrew {
  std::list<DeviceWorker> checked;
  std::list<std::vector<DeviceSide>> timed;
};

// Borrowed; all outlive the evaluation.
struct DeviceParts {
  DeviceStage& stage;
  DeviceCrew& crew;
  DeviceTurn& turn;
  DeviceProgram program;  // the candidate's
  const Machine& machine;
  const VerifyOptions& options;
  WorkerOptions worker;
  // Once the first processes have their contexts, of which the driver makes one at a time: starts
  // whatever is wanted beside the checks. May be empty.
  std::function<Result<void>()> once_loaded;
  // Waits until nothing of this command's own starts or ends on the device. May be empty.
  std::function<void()> settle;
};

// Every check but those of timed calls; the evaluation says what was found.
[[nodiscard]] Result<void> CheckOnDevice(const DeviceParts& parts, Judging& judging,
                                         const VerifyProgress& progress);

}  // namespace pragma
