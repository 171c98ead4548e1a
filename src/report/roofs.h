// Roofs: what the machine can do at most, as the profiles of a run imply it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/profile.h"
#include "core/task.h"

namespace pragma {

struct BandwidthRoof {
  std::string level;  // "task": of the level where the task's data lives; "L2", "L3", "DRAM"
  double gbs = 0;     // 1e9 bytes per second
};

struct Roofs {
  double gflops = 0;                     // fp32, all threads
  double intensity = 0;                  // of the task: FLOP per compulsory byte
  std::vector<BandwidthRoof> bandwidth;  // "task" first
};

// From the shares that a profile states (docs/metrics.md, "Roofs"): a share of a roof and what was
// achieved give the roof. None when the profile lacks them.
[[nodiscard]] std::optional<Roofs> RoofsFrom(const Task& task, const Profile& profile);

}  // namespace pragma
