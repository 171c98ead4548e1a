// The rules that decide when a run stops, and which trial is the best.
#pragma once

#include "base/clock.h"
#include "core/stop_reason.h"
#include "search/session.h"
#include "search/strategy.h"

namespace pragma {

struct Evaluation;
class SearchTree;
struct Trial;

inline constexpr double kRooflineMargin = 0.05;  // a kernel this close to its bound is done

// A trial becomes the best if it passed and is the first that did, or if the interval of its paired
// ratio to the current best is above 1 + kMinimumEffect. A kernel that packs its parameters
// beforehand never replaces one that does not, because their times are not comparable.
[[nodiscard]] bool BecomesBest(const Evaluation& evaluation, const Trial* best);

// Returns kRoofline, kBudget or kStall, or kNone if the run continues.
[[nodiscard]] StopReason WhyStopped(const SearchTree& tree, const Spent& spent,
                                    const Preset& preset, const Budget& budget);

// Returns whether another attempt would end before the time is up, by how long the earlier ones
// took, and leave time to measure the best again. The first attempt is always begun.
[[nodiscard]] bool TimeForAttempt(const SearchTree& tree, Seconds left);
// Returns whether there is time to profile a kernel.
[[nodiscard]] bool TimeForProfile(Seconds left);

}  // namespace pragma
