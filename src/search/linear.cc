// The policies without a tree: refinement of the newest attempt, and independent attempts.
#include <memory>
#include <vector>

#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "search/policies.h"
#include "search/preset.h"
#include "search/strategy.h"

namespace pragma {
namespace {

// Returns the newest trial with a candidate, because a reply without code cannot be improved.
const Trial* NewestWithCode(const SearchTree& tree) {
  const Trial* newest = nullptr;
  for (const Trial& trial : tree.trials()) {
    if (trial.candidate) newest = &trial;
  }
  return newest;
}

std::vector<int> EarlierWithCode(const SearchTree& tree, int node) {
  std::vector<int> nodes;
  for (const Trial& trial : tree.trials()) {
    if (trial.node < node && trial.candidate) nodes.push_back(trial.node);
  }
  return nodes;
}

// Works on the newest attempt and also shows the best version. Attempts in flight have no
// influence: if there are several, each works on the newest attempt that has ended.
class LinearStrategy final : public Strategy {
 public:
  explicit LinearStrategy(ShownHistory history) : history_(history) {}

  [[nodiscard]] Move Next(const SearchTree& tree,
                          const std::vector<InFlight>& /*in_flight*/) override {
    const Trial* newest = NewestWithCode(tree);
    if (newest == nullptr) return {};
    Move move{.node = newest->node,
              .role = newest->evaluation.passed() ? Role::kImprove : Role::kRepair};
    const Trial* best = tree.best();
    if (history_ == ShownHistory::kAll) move.plan_window = EarlierWithCode(tree, move.node);
    if (history_ == ShownHistory::kBest && best != nullptr && best->node != move.node)
      move.plan_window = {best->node};
    move.code_window = move.plan_window;
    return move;
  }

 private:
  ShownHistory history_;
};

class IndependentStrategy final : public Strategy {
 public:
  [[nodiscard]] Move Next(const SearchTree& /*tree*/,
                          const std::vector<InFlight>& /*in_flight*/) override {
    return {};
  }
};

}  // namespace

std::unique_ptr<Strategy> MakeLinear(const Preset& preset) {
  return std::make_unique<LinearStrategy>(preset.history);
}

std::unique_ptr<Strategy> MakeIndependent() { return std::make_unique<IndependentStrategy>(); }

}  // namespace pragma
