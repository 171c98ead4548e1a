#include "search/strategy.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "core/search_tree.h"
#include "core/trial.h"

namespace pragma {
namespace {

// The newest trial that has a candidate: there is nothing to work on in a reply without code.
const Trial* NewestWithCode(const SearchTree& tree) {
  const Trial* newest = nullptr;
  for (const Trial& trial : tree.trials()) {
    if (trial.candidate) newest = &trial;
  }
  return newest;
}

Move WorkOn(const Trial& trial) {
  return {.node = trial.node, .role = trial.evaluation.passed() ? Role::kImprove : Role::kRepair};
}

std::vector<int> EarlierWithCode(const SearchTree& tree, int node) {
  std::vector<int> nodes;
  for (const Trial& trial : tree.trials()) {
    if (trial.node < node && trial.candidate) nodes.push_back(trial.node);
  }
  return nodes;
}

// Refinement of the newest attempt, with the best version kept in sight: PRAGMA's loop, and, as a
// conversation, Caesar's.
class LinearStrategy final : public Strategy {
 public:
  explicit LinearStrategy(std::string history) : history_(std::move(history)) {}

  [[nodiscard]] Move Next(const SearchTree& tree) override {
    const Trial* newest = NewestWithCode(tree);
    if (newest == nullptr) return {};
    Move move = WorkOn(*newest);
    const Trial* best = tree.best();
    if (history_ == "all") move.others = EarlierWithCode(tree, move.node);
    if (history_ == "best" && best != nullptr && best->node != move.node)
      move.others = {best->node};
    return move;
  }

 private:
  std::string history_;
};

// Every attempt from the reference, none knowing of another.
class IndependentStrategy final : public Strategy {
 public:
  [[nodiscard]] Move Next(const SearchTree& /*tree*/) override { return {}; }
};

}  // namespace

// None of these draws at random; the seed is for those that do.
Result<std::unique_ptr<Strategy>> MakeStrategy(const Preset& preset, const Seed& /*seed*/) {
  if (preset.policy == "independent") return std::make_unique<IndependentStrategy>();
  if (preset.policy == "linear" || preset.policy == "conversation") {
    return std::make_unique<LinearStrategy>(preset.history);
  }
  return Fail(ErrorKind::kUsage, "the strategy " + preset.name + " has the policy \"" +
                                     preset.policy + "\", which this pragma does not know");
}

}  // namespace pragma
