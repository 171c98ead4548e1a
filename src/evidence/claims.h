// Claims: do the speed-ups of an evaluation follow from its own raw samples?
#pragma once

#include <string>
#include <vector>

#include "core/evaluation.h"

namespace pragma {

struct BrokenClaim {
  std::string what;  // "speedup.eager"
  std::string recorded;
  std::string from_samples;  // empty: none fit
  bool samples_missing = false;
};

// Empty when every ratio is what its samples give. Samples may be anything.
[[nodiscard]] std::vector<BrokenClaim> BrokenClaims(const Evaluation& evaluation);

}  // namespace pragma
