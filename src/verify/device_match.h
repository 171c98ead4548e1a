// A timing session on a device. As timing_session.h, but for what a device changes: the processes
// were made ready side by side (device_side.h), values are handed over by the referee after the
// warm-up, and its passes decide about every timed output.
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
  Seconds torch_limit{60};  // for one burst of Torch's
  std::function<void(int process, int processes)> progress;
  // Called once, when all processes are ready: from here on the device must be ours alone.
  std::function<Result<TimingPlan>()> begin;
};

struct DeviceOutcome {
  TimingOutcome timing;  // a side that was left out has no times
  TimingPlan plan;
  std::string no_compile;  // why torch.compile was left out; empty: it was not
  Seconds waited{0};       // until every process was ready
};

// Uses the sides up.
[[nodiscard]] Result<DeviceOutcome> RunOnDevice(const DeviceSession& session,
                                                std::vector<DeviceSide>& sides, Rng& rng);

}  // namespace pragma
