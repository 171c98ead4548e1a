// A timing session on a device. It differs from timing_session.h only where a device makes it
// necessary: the processes were made ready in parallel (device_side.h), the referee hands over the
// values after the warm-up, and the referee's passes decide about every timed output.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "verify/device_side.h"
#include "verify/device_stage.h"
#include "verify/timing_plan.h"
#include "verify/timing_session.h"

namespace pragma {

struct DeviceSession {
  DeviceStage* stage = nullptr;
  Seconds torch_limit{60};  // limit for one burst of a Torch side
  std::function<void(int process, int processes)> progress;
  // Called once when all processes are ready. From here on no other process may use the device.
  std::function<Result<TimingPlan>()> begin;
};

struct DeviceOutcome {
  TimingOutcome timing;  // a side that was left out has no times
  TimingPlan plan;
  std::string no_compile;  // why torch.compile was left out; empty: it was not
  Seconds waited{0};       // time until every process was ready
};

// Runs the session. The sides cannot be used again afterwards.
[[nodiscard]] Result<DeviceOutcome> RunOnDevice(const DeviceSession& session,
                                                std::vector<DeviceSide>& sides, Rng& rng);

}  // namespace pragma
