// The checks of a Triton module: as value_check.h, with everything it is held against on the
// device.
#pragma once

#include <functional>

#include "base/result.h"
#include "harness/worker_process.h"
#include "harness/worker_zygote.h"
#include "machine/machine.h"
#include "verify/device_stage.h"
#include "verify/judging.h"
#include "verify/options.h"

namespace pragma {

// Borrowed; all outlive the evaluation.
struct DeviceParts {
  DeviceStage& stage;
  WorkerZygote& zygote;  // the candidate's
  const Machine& machine;
  const VerifyOptions& options;
  WorkerOptions worker;
  // Once the first processes have their contexts, of which the driver makes one at a time: starts
  // whatever is wanted beside the checks. May be empty.
  std::function<Result<void>()> once_loaded;
};

// Every check but those of timed calls; the evaluation says what was found.
[[nodiscard]] Result<void> CheckOnDevice(const DeviceParts& parts, Judging& judging,
                                         const VerifyProgress& progress);

}  // namespace pragma
