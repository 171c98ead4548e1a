// ProfileComparison of a version's profile with the best one's: what the changed time goes with.
#pragma once

#include <string>
#include <vector>

#include "core/profile.h"

namespace pragma {

// One figure of both profiles.
struct MetricDifference {
  std::string tag;
  double before = 0;
  double after = 0;
  double factor = 1;      // after / before; 0 when before is 0
  std::string verdict;    // improved, regressed or same: this figure alone
  std::string statement;  // "instructions fell from 67.9 M to 9.7 M (7.0 times fewer)"
};

struct ProfileComparison {
  // By time alone: improved, regressed or same; "unknown" when a time is missing.
  std::string verdict;
  // The time, and the count that changed most in the same direction. Never IPC or another ratio.
  std::string statement;
  std::vector<MetricDifference> differences;  // time first, counts before ratios
};

// `before` is the best version so far.
[[nodiscard]] ProfileComparison CompareProfiles(const Profile& before, const Profile& after);

}  // namespace pragma
