// The rules of a run: when it stops, and what makes a trial the best.
#pragma once

#include <string>

#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "search/session.h"
#include "search/strategy.h"

namespace pragma {

inline constexpr double kRooflineMargin = 0.05;  // this near to its bound, a kernel is done

// A trial becomes the best when it passed and is the first that did, or when the interval of its
// paired ratio against the present best lies above 1 + kMinimumEffect. One that packs its
// parameters beforehand never replaces one that does not: their figures are not comparable.
[[nodiscard]] bool BecomesBest(const Evaluation& evaluation, const Trial* best);

// "roofline", "budget", "stall", or empty: go on.
[[nodiscard]] std::string StopReason(const SearchTree& tree, const Spent& spent,
                                     const Preset& preset, const Budget& budget);

}  // namespace pragma
