// Simulation: runs a strategy against simulated authors and kernels, in microseconds per attempt.
// It shows how a policy spends its attempts and what that yields under stated assumptions. It says
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

// How attempts turn out. Speeds are natural logarithms of the speedup over eager.
struct SimulatedWorld {
  std::string name = "even odds";
  double correct = 0.5;  // probability that a new or changed kernel is correct
  double repaired =
      0.5;  // chance that a repair succeeds; the repaired kernel is as fast as planned
  double first_mean = -0.2;  // mean of the first kernel; normally distributed
  double first_spread = 0.6;
  double limit = 1.8;        // no kernel is faster: the task's bound (6x eager)
  double gain_chance = 0.5;  // probability that a change speeds up a correct kernel
  double gain_share = 0.35;  // gain as a share of the distance to the limit; exponential
  double loss_spread = 0.3;  // otherwise it is slower by a half-normal with this spread
  double noise = 0.01;       // of a measurement; the interval extends by twice this to each side
};

struct SimulatedRun {
  SearchTree tree;
  std::vector<Move> moves;  // by node, from 1
  double best = 0;          // true log speedup of the run's best kernel; 0 if none is faster
  [[nodiscard]] bool passed() const { return tree.best() != nullptr; }
};

// `jobs` has the same meaning as in SessionParts: attempt t is decided on the results of the first
// t - jobs. If the preset leaves the choice of the version to the advice, the version is the best
// one, unless the newest attempt failed or is the best.
[[nodiscard]] SimulatedRun Simulate(const Preset& preset, const SimulatedWorld& world, int attempts,
                                    int jobs, const Seed& seed);

// Means over runs, with half the width of their 95 % intervals.
struct Figure {
  double mean = 0;
  double half = 0;
};
struct SimulatedFigures {
  int runs = 0;
  Figure success;   // share of runs with a correct kernel
  Figure speedup;   // geometric mean of the best's speedup; 1 if none is faster
  Figure roots;     // attempts from the reference
  Figure improves;  // attempts on a correct kernel
  Figure repairs;   // attempts on a failed kernel
  Figure depth;     // depth of the best; 1: made from the reference
  Figure best_at;   // number of the attempt that made it
};
[[nodiscard]] SimulatedFigures SimulateMany(const Preset& preset, const SimulatedWorld& world,
                                            int attempts, int jobs, int runs, const Seed& seed);

// Estimates probabilities and sizes of changes from recorded runs. The limit of a task is the best
// result of all its runs.
[[nodiscard]] SimulatedWorld WorldOf(const std::vector<Recording>& recordings);

// Returns the worlds that `pragma strategies --simulate` and docs/strategies-simulated.md use.
[[nodiscard]] std::vector<SimulatedWorld> StandardWorlds();

}  // namespace pragma
