// The checks of a candidate on a device. Like value_check.h, but everything that the candidate is
// compared with is on the device.
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

// The processes of one evaluation. They are killed or stopped when they have done their part, but
// waited for only once the evaluation is over, because a context takes tenths of a second to end.
struct DeviceCrew {
  std::list<DeviceWorker> checked;
  std::list<std::vector<DeviceSide>> timed;
};

// All references are borrowed and must outlive the evaluation.
struct DeviceParts {
  DeviceStage& stage;
  DeviceCrew& crew;
  DeviceTurn& turn;
  DeviceProgram program;  // what the candidate's processes are started from
  const Machine& machine;
  const VerifyOptions& options;
  WorkerOptions worker;
  // Called once the first processes have their contexts, which the driver makes one at a time.
  // Starts everything that is to run at the same time as the checks. May be empty.
  std::function<Result<void>()> once_loaded;
  // Waits until none of this command's own processes is starting or ending on the device. May be
  // empty.
  std::function<void()> settle;
};

// Runs every check except those of timed calls. The evaluation says what was found.
[[nodiscard]] Result<void> CheckOnDevice(const DeviceParts& parts, Judging& judging,
                                         const VerifyProgress& progress);

}  // namespace pragma
