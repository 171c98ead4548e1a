#include "search/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/profile.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "search/preset.h"
#include "search/recording.h"
#include "search/stopping.h"
#include "search/strategy.h"
#include "search/tree_view.h"

namespace pragma {
namespace {

constexpr double kEagerMs = 1;

// One run in its world: the true speed of each node, and what was measured of it.
class World final {
 public:
  World(const SimulatedWorld& rules, const Seed& seed) : rules_(rules), rng_(seed) {}

  // Returns the trial of `move`. Failures keep the speed that they would have had.
  [[nodiscard]] Trial Attempt(const SearchTree& tree, const Move& move, int node);
  [[nodiscard]] double speed(int node) const { return speeds_[static_cast<std::size_t>(node)]; }

 private:
  [[nodiscard]] double Changed(double speed);
  [[nodiscard]] Interval Measured(double log_ratio);
  [[nodiscard]] Profile Diagnosed();

  const SimulatedWorld& rules_;
  Rng rng_;
  std::vector<double> speeds_{0};
};

double World::Changed(double speed) {
  if (rng_.Uniform() >= rules_.gain_chance)
    return speed - std::abs(rng_.Normal()) * rules_.loss_spread;
  const double share = -std::log(1 - rng_.Uniform()) * rules_.gain_share;
  return speed + (rules_.limit - speed) * std::min(share, 1.0);
}

Interval World::Measured(double log_ratio) {
  const double seen = log_ratio + rng_.Normal() * rules_.noise;
  return {std::exp(seen), std::exp(seen - 2 * rules_.noise), std::exp(seen + 2 * rules_.noise)};
}

// Three causes in random order, because a beam or a choice of families needs alternatives.
Profile World::Diagnosed() {
  constexpr std::array<const char*, 4> kCauses{"not_vectorised", "dram_bandwidth",
                                               "dependency_chain", "not_parallel"};
  Profile profile;
  const std::size_t first = rng_.Below(kCauses.size());
  for (std::size_t i = 0; i < 3; ++i) {
    profile.diagnosis.push_back({.bottleneck = kCauses.at((first + i) % kCauses.size()),
                                 .score = 0.5 / static_cast<double>(i + 1)});
  }
  return profile;
}

Trial World::Attempt(const SearchTree& tree, const Move& move, int node) {
  Trial trial{.node = node, .parent = move.node, .role = move.role};
  trial.focus = move.focus;
  trial.candidate = CppCandidate(std::to_string(node));
  double speed = std::min(rules_.limit, rules_.first_mean + rng_.Normal() * rules_.first_spread);
  if (move.role == Role::kImprove) speed = Changed(speeds_.at(static_cast<std::size_t>(move.node)));
  if (move.role == Role::kRepair) speed = speeds_.at(static_cast<std::size_t>(move.node));
  speeds_.push_back(speed);
  const double chance = move.role == Role::kRepair ? rules_.repaired : rules_.correct;
  Evaluation& evaluation = trial.evaluation;
  evaluation.status = rng_.Uniform() < chance ? Status::kPassed : Status::kWrongValues;
  if (!evaluation.passed()) return trial;
  evaluation.speedup_eager = Measured(speed);
  const double ms = kEagerMs / evaluation.speedup_eager->median;
  evaluation.timing = Timing{.ms = {ms, ms, ms}};
  evaluation.eager = Timing{.ms = {kEagerMs, kEagerMs, kEagerMs}};
  if (const Trial* best = tree.best())
    evaluation.speedup_best = Measured(speed - speeds_[static_cast<std::size_t>(best->node)]);
  trial.profile = Diagnosed();
  trial.best = BecomesBest(evaluation, tree.best());
  return trial;
}

// Decides the attempt after those in `moves`, of which `jobs` - 1 are still in flight. Returns the
// tree on which the decision is based, and the move.
std::pair<SearchTree, Move> Decide(Strategy& strategy, const SimulatedRun& run, int jobs) {
  const auto begun = static_cast<int>(run.moves.size());
  SearchTree seen = run.tree.UpTo(begun + 1 - jobs);
  std::vector<InFlight> in_flight;
  for (int node = seen.next_node(); node <= begun; ++node)
    in_flight.push_back({node, run.moves[static_cast<std::size_t>(node - 1)]});
  Move move = strategy.Next(seen, in_flight);
  return {std::move(seen), std::move(move)};
}

// Returns the move with the version from which a Conductor would start: the best, unless the newest
// attempt is to be repaired.
Move WithBase(const Preset& preset, const SearchTree& seen, Move move) {
  const bool free = preset.conductor && AdviceChoosesBase(preset) && move.role == Role::kImprove;
  if (free && seen.best() != nullptr) move.node = seen.best()->node;
  return move;
}

// Accumulates a mean and its interval.
class Mean final {
 public:
  void Add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  [[nodiscard]] Figure figure() const {
    if (count_ == 0) return {};
    const double n = count_;
    const double mean = sum_ / n;
    const double variance = std::max(squares_ / n - mean * mean, 0.0);
    return {mean, 1.96 * std::sqrt(variance / n)};
  }
  // Interprets the values as ones and zeros, and returns the probability of a one. Without data it
  // is one half (Laplace).
  [[nodiscard]] double Smoothed() const { return (sum_ + 1) / (count_ + 2); }

 private:
  int count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

// Turns the mean of logarithms into a geometric mean.
Figure Geometric(const Figure& logs) {
  const double mean = std::exp(logs.mean);
  return {mean, mean * (std::exp(logs.half) - 1)};
}

double CountOf(const SimulatedRun& run, Role role) {
  return static_cast<double>(std::ranges::count(run.moves, role, &Move::role));
}

}  // namespace

SimulatedRun Simulate(const Preset& preset, const SimulatedWorld& world, int attempts, int jobs,
                      const Seed& seed) {
  SimulatedRun run;
  World truth(world, DeriveSeed(seed, "world"));
  const std::unique_ptr<Strategy> strategy = MakeStrategy(preset, seed);
  for (int node = 1; node <= attempts; ++node) {
    const auto [seen, move] = Decide(*strategy, run, jobs);
    run.moves.push_back(move);
    run.tree.Insert(truth.Attempt(run.tree, WithBase(preset, seen, move), node));
  }
  if (const Trial* best = run.tree.best()) run.best = std::max(0.0, truth.speed(best->node));
  return run;
}

SimulatedFigures SimulateMany(const Preset& preset, const SimulatedWorld& world, int attempts,
                              int jobs, int runs, const Seed& seed) {
  Mean success, logs, roots, improves, repairs, depth, best_at;
  for (int i = 0; i < runs; ++i) {
    const Seed own = DeriveSeed(seed, fmt::format("run {}", i));
    const SimulatedRun run = Simulate(preset, world, attempts, jobs, own);
    success.Add(run.passed() ? 1 : 0);
    logs.Add(run.best);
    roots.Add(CountOf(run, Role::kSeed));
    improves.Add(CountOf(run, Role::kImprove));
    repairs.Add(CountOf(run, Role::kRepair));
    const Trial* best = run.tree.best();
    if (best == nullptr) continue;
    depth.Add(static_cast<double>(run.tree.PathTo(best->node).size()));
    best_at.Add(best->node);
  }
  return SimulatedFigures{.runs = runs,
                          .success = success.figure(),
                          .speedup = Geometric(logs.figure()),
                          .roots = roots.figure(),
                          .improves = improves.figure(),
                          .repairs = repairs.figure(),
                          .depth = depth.figure(),
                          .best_at = best_at.figure()};
}

namespace {

// Estimates the probabilities and sizes of a world from the trials of recorded runs.
class Observed {
 public:
  // `limit` is the logarithm of the best speedup that any run of the task found.
  void Add(const Recording& recording, double limit) {
    best_.Add(limit);
    for (const Trial& trial : recording.trials) {
      (trial.role == Role::kRepair ? repaired_ : made_).Add(trial.evaluation.passed() ? 1 : 0);
      const Trial* parent = trial.parent == 0
                                ? nullptr
                                : &recording.trials[static_cast<std::size_t>(trial.parent - 1)];
      AddChange(trial, parent == nullptr ? 0 : LogSpeedup(*parent), limit);
    }
  }

  [[nodiscard]] SimulatedWorld World() const {
    const double best = best_.figure().mean;
    const double behind = first_.figure().mean;
    const double variance = first_squared_.figure().mean - behind * behind;
    return {.name = "recorded",
            .correct = made_.Smoothed(),
            .repaired = repaired_.Smoothed(),
            .first_mean = best - behind,
            .first_spread = std::sqrt(std::max(variance, 0.0)),
            .limit = best,
            .gain_chance = gained_.Smoothed(),
            .gain_share = shares_.figure().mean,
            .loss_spread = std::sqrt(losses_squared_.figure().mean)};
  }

 private:
  void AddChange(const Trial& trial, double before, double limit) {
    const double change = LogSpeedup(trial) - before;
    if (!(std::abs(change) < kNoScore)) return;  // one of the two failed
    if (trial.role == Role::kSeed) {
      first_.Add(limit - change);
      first_squared_.Add((limit - change) * (limit - change));
    } else if (trial.role == Role::kImprove) {
      gained_.Add(change > 0 ? 1 : 0);
      if (change > 0) shares_.Add(change / std::max(limit - before, change));
      if (change <= 0) losses_squared_.Add(change * change);
    }
  }

  Mean made_, repaired_;          // whether a candidate is correct
  Mean best_;                     // limits of the tasks
  Mean first_, first_squared_;    // distance of a first version from its limit
  Mean gained_;                   // whether a change sped up a correct kernel
  Mean shares_, losses_squared_;  // gain as a share of the remaining distance, or slowdown
};

}  // namespace

SimulatedWorld WorldOf(const std::vector<Recording>& recordings) {
  std::map<std::string, double> limits;  // by the text of the task
  for (const Recording& recording : recordings) {
    double& limit = limits[recording.task.sha256];
    for (const Trial& trial : recording.trials) limit = std::max(limit, LogSpeedup(trial));
  }
  Observed observed;
  for (const Recording& recording : recordings)
    observed.Add(recording, limits[recording.task.sha256]);
  return observed.World();
}

// The probabilities of a correct kernel are those of STARK's Table 2, rounded.
std::vector<SimulatedWorld> StandardWorlds() {
  SimulatedWorld even;
  SimulatedWorld harder{.name = "harder", .correct = 0.35, .repaired = 0.35};
  SimulatedWorld hardest{.name = "hardest", .correct = 0.15, .repaired = 0.15};
  SimulatedWorld repairable{.name = "hard, but easy to repair", .correct = 0.3, .repaired = 0.7};
  SimulatedWorld stubborn{.name = "gains are rare", .gain_chance = 0.15};
  return {even, harder, hardest, repairable, stubborn};
}

}  // namespace pragma
