// The policies behind MakeStrategy, one file each. Private to search/.
#pragma once

#include <memory>

#include "base/random.h"
#include "search/preset.h"
#include "search/strategy.h"

namespace pragma {

// Refinement of the newest attempt: PRAGMA's loop and, as a conversation, Caesar's (linear.cc).
[[nodiscard]] std::unique_ptr<Strategy> MakeLinear(const Preset& preset);
// Every attempt from the reference, none knowing of another (linear.cc).
[[nodiscard]] std::unique_ptr<Strategy> MakeIndependent();
// STARK's tree (epsilon_greedy.cc).
[[nodiscard]] std::unique_ptr<Strategy> MakeEpsilonGreedy(const Preset& preset, const Seed& seed);
// The best k kernels, each towards its b first diagnosed bottlenecks, in rounds (beam.cc).
[[nodiscard]] std::unique_ptr<Strategy> MakeBeam(const Preset& preset);
// UCB1 on the logarithm of the speedup, with progressive widening (ucb.cc).
[[nodiscard]] std::unique_ptr<Strategy> MakeUcb(const Preset& preset);

}  // namespace pragma
