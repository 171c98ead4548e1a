// Budget: what a run may spend. All limits hold at once.
#pragma once

#include <cstdint>

namespace pragma {

struct Budget {
  int attempts = 15;
  double seconds = 0;  // 0: unlimited, also for the limits below
  std::int64_t tokens = 0;
  double usd = 0;
};

}  // namespace pragma
