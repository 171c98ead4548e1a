// Roofs: the machine's peak rates, as implied by the profiles of a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/profile.h"
#include "core/task.h"

namespace pragma {

struct BandwidthRoof {
  std::string level;  // "L2", "L3", "DRAM", or "task" for the level that holds the task's data
  double gbs = 0;     // 1e9 bytes per second
};

struct Roofs {
  double gflops = 0;                     // fp32, all threads
  double intensity = 0;                  // the task's FLOP per compulsory byte
  std::vector<BandwidthRoof> bandwidth;  // "task" first
};

// Computes the roofs from the shares that a profile states (docs/metrics.md, "Roofs"): the achieved
// rate and its share of a roof determine the roof. Returns none if the profile lacks them.
[[nodiscard]] std::optional<Roofs> RoofsFrom(const Task& task, const Profile& profile);

}  // namespace pragma
