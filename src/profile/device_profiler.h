// ProfileOnDevice: a verified kernel for a GPU to a Profile: its launches and what the driver knows
// of them, hardware counters where there are any, the roofs of its task, and what that means.
// docs/gpu.md says what runs and how it is confined.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/profile.h"
#include "machine/machine.h"
#include "profile/profiler.h"
#include "profile/rules.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {

// Where a timed call finds its tensors.
enum class DeviceData { kInMemory, kInCache };

// The counters that rules need, or all that the profiler knows and what it says of them itself,
// which takes five times as long.
enum class CounterSet { kDefault, kFull };

// Borrowed; all outlive the profile. The machine has a device.
struct DeviceSubject {
  const Jail& jail;
  const Machine& machine;
  TorchServer& server;  // draws the inputs
  const Candidate& candidate;
  const BuiltKernel* kernel = nullptr;  // of a CUDA candidate
  std::filesystem::path adapters;       // the profilers that are commands (profile/adapter.h)
  double time_ms = 0;  // of one call as the evaluation measured it; 0: not measured
  DeviceData data = DeviceData::kInMemory;
  CounterSet counters = CounterSet::kDefault;
};

// A source that is missing or refused is a note in the profile. Interrupt: kInterrupted.
[[nodiscard]] Result<Profile> ProfileOnDevice(const DeviceSubject& subject, const RuleSet& rules,
                                              const ProfileProgress& progress = {});

}  // namespace pragma
