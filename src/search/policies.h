// The policies behind MakeStrategy, one per file. Private to search/.
#pragma once

#include <memory>

#include "base/random.h"
#include "search/preset.h"
#include "search/strategy.h"

namespace pragma {

// Refines the newest attempt: PRAGMA's loop and, as a conversation, Caesar's (linear.cc).
[[nodiscard]] std::unique_ptr<Strategy> MakeLinear(const Preset& preset);
// Makes every attempt from the reference, independent of all others (linear.cc).
[[nodiscard]] std::unique_ptr<Strategy> MakeIndependent();
// Searches STARK's tree (epsilon_greedy.cc).
[[nodiscard]] std::unique_ptr<Strategy> MakeEpsilonGreedy(const Preset& preset, const Seed& seed);
// Works on the best k kernels, each with regard to the first b bottlenecks of its diagnosis, in
// rounds (beam.cc).
[[nodiscard]] std::unique_ptr<Strategy> MakeBeam(const Preset& preset);
// Applies UCB1 to the logarithm of the speedup, with progressive widening (ucb.cc).
[[nodiscard]] std::unique_ptr<Strategy> MakeUcb(const Preset& preset);

}  // namespace pragma
