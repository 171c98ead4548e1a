// UCB1 (Auer et al. 2002) on the logarithm of the speedup, in a tree whose nodes may have more
// children the more often they are visited (progressive widening, Coulom 2007).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/search_tree.h"
#include "core/trial.h"
#include "search/policies.h"
#include "search/preset.h"
#include "search/strategy.h"
#include "search/tree_view.h"

namespace pragma {
namespace {

// The reward of a failure is that of a kernel at a quarter of eager's speed.
const double kWorstReward = std::log(0.25);

// Visits and rewards of each node's subtree. An attempt in flight is a visit without a reward.
class Statistics final {
 public:
  explicit Statistics(const TreeView& view);
  [[nodiscard]] int visits(int node) const { return visits_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] double mean(int node) const {
    return sums_[static_cast<std::size_t>(node)] / visits(node);
  }

 private:
  std::vector<int> visits_;
  std::vector<double> sums_;
};

Statistics::Statistics(const TreeView& view)
    : visits_(static_cast<std::size_t>(view.nodes())), sums_(visits_.size()) {
  const auto reward = [&](int node) { return std::max(view.log_speedup(node), kWorstReward); };
  double best = 0;  // the reference counts as a kernel at eager's speed
  for (int node = 1; node < view.nodes(); ++node) best = std::max(best, reward(node));
  for (int node = view.nodes() - 1; node >= 0; --node) {
    const auto at = static_cast<std::size_t>(node);
    visits_[at] += 1 + view.in_flight(node);
    sums_[at] += (reward(node) - kWorstReward) / (best - kWorstReward);
    if (node == 0) break;
    const auto parent = static_cast<std::size_t>(view.parent(node));
    visits_[parent] += visits_[at];
    sums_[parent] += sums_[at];
  }
}

class Ucb final : public Strategy {
 public:
  explicit Ucb(const UcbRules& rules) : rules_(rules) {}
  [[nodiscard]] Move Next(const SearchTree& tree, const std::vector<InFlight>& in_flight) override;

 private:
  [[nodiscard]] bool MayWiden(const TreeView& view, const Statistics& statistics, int node) const;
  [[nodiscard]] int BestChild(const TreeView& view, const Statistics& statistics, int node) const;
  UcbRules rules_;
};

bool Ucb::MayWiden(const TreeView& view, const Statistics& statistics, int node) const {
  const double allowed = rules_.widening * std::pow(statistics.visits(node), rules_.power);
  return view.selections(node) < std::ceil(allowed);
}

// Returns -1 if there is no child with code.
int Ucb::BestChild(const TreeView& view, const Statistics& statistics, int node) const {
  int best = -1;
  double most = 0;
  for (const int child : view.children(node)) {
    if (!view.has_code(child)) continue;
    const double bonus = std::sqrt(std::log(statistics.visits(node)) / statistics.visits(child));
    const double value = statistics.mean(child) + rules_.exploration * bonus;
    if (best > 0 && value <= most) continue;
    best = child;
    most = value;
  }
  return best;
}

Move Ucb::Next(const SearchTree& tree, const std::vector<InFlight>& in_flight) {
  const TreeView view(tree, in_flight);
  const Statistics statistics(view);
  int node = 0;
  while (!MayWiden(view, statistics, node)) {
    const int child = BestChild(view, statistics, node);
    if (child < 0) break;
    node = child;
  }
  Move move = WorkOn(view, node);
  if (node == 0) return move;
  move.plan_window = view.children(node);
  const Trial* best = tree.best();
  const bool known = best == nullptr || best->node == node || view.parent(best->node) == node;
  if (!known) move.plan_window.push_back(best->node);
  std::ranges::sort(move.plan_window);
  move.code_window = move.plan_window;
  return move;
}

}  // namespace

std::unique_ptr<Strategy> MakeUcb(const Preset& preset) {
  return std::make_unique<Ucb>(preset.ucb);
}

}  // namespace pragma
