// Claims: checks whether the speedups of an evaluation follow from its own raw samples.
#pragma once

#include <string>
#include <vector>

#include "core/evaluation.h"

namespace pragma {

struct BrokenClaim {
  std::string what;  // "speedup.eager"
  std::string recorded;
  std::string from_samples;  // empty: no samples match
  bool samples_missing = false;
};

// Returns an empty list if every ratio follows from its samples. The samples may be anything.
[[nodiscard]] std::vector<BrokenClaim> BrokenClaims(const Evaluation& evaluation);

}  // namespace pragma
