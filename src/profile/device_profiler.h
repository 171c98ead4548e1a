// ProfileOnDevice: turns a verified GPU kernel into a Profile: its launches and what the driver
// reports about them, hardware counters if available, the task's roofline, and the diagnosis.
// docs/gpu.md says what runs and how it is confined.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "core/candidate.h"
#include "core/profile.h"
#include "machine/machine.h"
#include "profile/foreign_tool.h"
#include "profile/profiler.h"
#include "profile/rules.h"
#include "sandbox/jail.h"
#include "task/torch_server.h"

namespace pragma {

// Where a timed call finds its tensors: in device memory or in the cache.
enum class DeviceData { kInMemory, kInCache };

// kDefault: the counters that the rules need. kFull: all that the profiler knows, and its own
// advice, which takes five times as long.
enum class CounterSet { kDefault, kFull };

// The references are borrowed, and all must outlive the profile. The machine must have a device.
struct DeviceSubject {
  const Jail& jail;
  const Machine& machine;
  TorchServer& server;  // draws the inputs
  const Candidate& candidate;
  const BuiltKernel* kernel = nullptr;  // set for a CUDA candidate
  std::filesystem::path adapters;       // folder of adapter files (profile/adapter.h)
  std::vector<ForeignTool> tools;       // adapters to run besides the device's own profiler
  double time_ms = 0;                   // time of one call from the evaluation; 0: not measured
  DeviceData data = DeviceData::kInMemory;
  CounterSet counters = CounterSet::kDefault;
};

// A source that is missing or refused becomes a note in the profile. An interrupt returns
// kInterrupted.
[[nodiscard]] Result<Profile> ProfileOnDevice(const DeviceSubject& subject, const RuleSet& rules,
                                              const ProfileProgress& progress = {});

}  // namespace pragma
