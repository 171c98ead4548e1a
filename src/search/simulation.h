// Simulation: a strategy driven against made-up authors and kernels, in microseconds an attempt. It
// says how a policy spends its attempts and what that is worth under stated assumptions; it says
// nothing about models (docs/strategies.md).
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "core/search_tree.h"
#include "search/preset.h"
#include "search/recording.h"
#include "search/strategy.h"

namespace pragma {

// What becomes of attempts. Speeds are natural logarithms of the speedup over eager.
struct SimulatedWorld {
  std::string name = "even odds";
  double correct = 0.5;  // chance that a new kernel, or a changed one, is correct
  double repaired =
      0.5;  // chance that a repair succeeds; the repaired kernel is as fast as planned
  double first_mean = -0.2;  // of the first kernel: normal
  double first_spread = 0.6;
  double limit = 1.8;        // no kernel is faster: the bound of the task (6 times eager)
  double gain_chance = 0.5;  // that a change makes a correct kernel faster
  double gain_share = 0.35;  // then by this share of what is left up to the limit, exponential
  double loss_spread = 0.3;  // else slower by a half-normal of this spread
  double noise = 0.01;       // of a measurement; the interval is twice as wide to each side
};

struct SimulatedRun {
  SearchTree tree;
  std::vector<Move> moves;  // by node, from 1
  double best = 0;          // true log speedup of the run's best kernel; 0 where none is faster
  [[nodiscard]] bool passed() const { return tree.best() != nullptr; }
};

// `jobs` as in SessionParts: attempt t is decided on what the first t - jobs became. Where the
// preset leaves the choice of the version to the advice, it is the best unless the newest failed or
// is it.
[[nodiscard]] SimulatedRun Simulate(const Preset& preset, const SimulatedWorld& world, int attempts,
                                    int jobs, const Seed& seed);

// Means over runs, with the half width of their 95 % interval.
struct Figure {
  double mean = 0;
  double half = 0;
};
struct SimulatedFigures {
  int runs = 0;
  Figure success;   // share of runs with a correct kernel
  Figure speedup;   // geometric mean of the best's speedup; eager where none is faster
  Figure roots;     // attempts from the reference
  Figure improves;  // attempts on a correct kernel
  Figure repairs;   // attempts on a failed one
  Figure depth;     // of the best, 1: made from the reference
  Figure best_at;   // the attempt that made it
};
[[nodiscard]] SimulatedFigures SimulateMany(const Preset& preset, const SimulatedWorld& world,
                                            int attempts, int jobs, int runs, const Seed& seed);

// Chances and sizes of changes as they were in recorded runs; a task's limit is the best that any
// of its runs found.
[[nodiscard]] SimulatedWorld WorldOf(const std::vector<Recording>& recordings);

// The worlds that `pragma strategies --simulate` and docs/strategies-simulated.md use.
[[nodiscard]] std::vector<SimulatedWorld> StandardWorlds();

}  // namespace pragma
