// ProfileComparison: compares a version's profile with the best version's, and says which metrics
// changed together with the time.
#pragma once

#include <string>
#include <vector>

#include "core/metric_table.h"
#include "core/profile.h"

namespace pragma {

// One metric that both profiles have.
struct MetricDifference {
  std::string tag;
  double before = 0;
  double after = 0;
  double factor = 1;      // after / before; 0 when before is 0
  std::string verdict;    // improved, regressed or same, for this metric alone
  std::string statement;  // "instructions fell from 67.9 M to 9.7 M (0.143x)"
};

struct ProfileComparison {
  // improved, regressed or same, judged by time alone; "unknown" when a time is missing.
  std::string verdict;
  // States the time and the count that changed most in the same direction. It never uses IPC or
  // another ratio.
  std::string statement;
  std::vector<MetricDifference> differences;  // time first, counts before ratios
};

// `before` is the profile of the best version so far. The table says which metrics are compared.
[[nodiscard]] ProfileComparison CompareProfiles(const MetricTable& metrics, const Profile& before,
                                                const Profile& after);

}  // namespace pragma
