// Advice: the Conductor's (or planner's) decision about the next attempt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pragma {

enum class Base : std::uint8_t { kCurrent, kBest, kReference };

struct Advice {
  Base base = Base::kBest;                 // version that the Coder starts from
  std::string bottleneck;                  // name of the bottleneck, or empty
  std::string evidence;                    // evidence that the author relied on
  std::string change;                      // the one change that is requested
  std::vector<std::string> extra_metrics;  // metrics wanted in the next profile
  bool stop = false;                       // true: nothing is left to gain
  // For a planner's advice: the whole source, with the block to change between IMPROVE markers and
  // the advice as comments inside the block. Empty: the advice marks no block.
  std::string anchored;
};

}  // namespace pragma
