// Advice: the Conductor's (or planner's) decision about the next attempt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pragma {

enum class Base : std::uint8_t { kCurrent, kBest, kReference };

struct Advice {
  Base base = Base::kBest;                 // which version the Coder starts from
  std::string bottleneck;                  // named, or empty
  std::string evidence;                    // what the author relied on
  std::string change;                      // the one change asked for
  std::vector<std::string> extra_metrics;  // wanted in the next profile
  bool stop = false;                       // nothing left to gain
  // A planner's: the whole source with the block to change between IMPROVE markers, the advice
  // inside it as comments. Empty: the advice marks nothing.
  std::string anchored;
};

}  // namespace pragma
