// STARK's tree: epsilon-greedy selection with root throttling and pruning of dead branches, and a
// window of nodes for each role (arXiv 2510.16996, 4.2 to 4.5). What the paper leaves open is a
// setting (TreeRules).
#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "search/families.h"
#include "search/policies.h"
#include "search/preset.h"
#include "search/strategy.h"
#include "search/tree_view.h"

namespace pragma {
namespace {

// Returns at most `most` of `nodes`, a random sample if there are more. Each occurs once, oldest
// first.
std::vector<int> Draw(std::vector<int> nodes, int most, Rng& rng) {
  std::ranges::sort(nodes);
  const auto repeated = std::ranges::unique(nodes);
  nodes.erase(repeated.begin(), repeated.end());
  while (nodes.size() > static_cast<std::size_t>(most))
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(rng.Below(nodes.size())));
  return nodes;
}

std::vector<int> Joined(std::vector<int> first, const std::vector<int>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// One decision over one tree.
class Selection final {
 public:
  Selection(const TreeView& view, const TreeRules& rules, Rng& rng)
      : view_(view), rules_(rules), rng_(rng) {}

  [[nodiscard]] int Node() const;
  [[nodiscard]] std::vector<int> Leaders(int node) const;

 private:
  [[nodiscard]] double Score(int node) const;
  [[nodiscard]] bool Dead(int node) const;
  [[nodiscard]] bool Eligible(int node) const;
  [[nodiscard]] bool Resting(int node) const;
  [[nodiscard]] int RepairAtOnce() const;
  [[nodiscard]] std::vector<int> Candidates() const;
  [[nodiscard]] int Greedy(const std::vector<int>& nodes) const;

  const TreeView& view_;
  const TreeRules& rules_;
  Rng& rng_;
};

double Selection::Score(int node) const {
  if (rules_.score == "runtime") return view_.runtime(node);
  return -view_.log_speedup(node);
}

bool Selection::Dead(int node) const {
  const std::vector<int>& children = view_.children(node);
  const auto count = static_cast<int>(children.size());
  const bool many = rules_.dead_at_least ? count >= rules_.dead_branch : count > rules_.dead_branch;
  return many && std::ranges::none_of(children, [&](int child) { return view_.passed(child); });
}

bool Selection::Eligible(int node) const {
  if (!view_.has_code(node)) return false;  // there is nothing to repair or improve
  if (node == 0 && view_.selections(0) >= rules_.root_children) return false;
  if (node > 0 && rules_.most_children > 0 && view_.passed(node) &&
      view_.selections(node) >= rules_.most_children)
    return false;
  return !Dead(node);
}

// Returns true for the best node and its descendants after too many attempts without a new best.
bool Selection::Resting(int node) const {
  const Trial* best = view_.tree().best();
  if (rules_.rewind_after == 0 || best == nullptr) return false;
  const int in_vain = view_.tree().next_node() - 1 - best->node;
  return in_vain >= rules_.rewind_after && view_.in_subtree(node, best->node);
}

// Returns the newest attempt if it failed and may be repaired at once, otherwise -1.
int Selection::RepairAtOnce() const {
  const int newest = view_.nodes() - 1;
  if (rules_.repairs == 0 || newest == 0 || view_.passed(newest) || !view_.has_code(newest) ||
      view_.in_flight(newest) > 0)
    return -1;
  return view_.repairs_in_a_row(newest) < rules_.repairs ? newest : -1;
}

std::vector<int> Selection::Candidates() const {
  std::vector<int> awake;
  std::vector<int> all;
  for (int node = 0; node < view_.nodes(); ++node) {
    if (!Eligible(node)) continue;
    all.push_back(node);
    if (!Resting(node)) awake.push_back(node);
  }
  return awake.empty() ? all : awake;
}

// Returns the node with the best score. Among failures it is the least-selected one, then the
// shallowest.
int Selection::Greedy(const std::vector<int>& nodes) const {
  return *std::ranges::min_element(nodes, {}, [&](int node) {
    const double score = Score(node);
    const bool failed = score >= kNoScore;
    return std::tuple(score, failed ? view_.selections(node) : 0, failed ? view_.depth(node) : 0);
  });
}

int Selection::Node() const {
  if (const int failed = RepairAtOnce(); failed > 0) return failed;
  const std::vector<int> nodes = Candidates();
  if (nodes.empty()) return 0;  // every reply was without code: start again
  std::vector<int> leaves = nodes;
  std::erase_if(leaves, [&](int node) { return view_.selections(node) > 0; });
  if (rng_.Uniform() < rules_.epsilon && !leaves.empty())
    return leaves[static_cast<std::size_t>(rng_.Below(leaves.size()))];
  return Greedy(nodes);
}

// Returns the best nodes outside the subtree of `node`, each kernel once. The reference is shown
// anyway.
std::vector<int> Selection::Leaders(int node) const {
  std::vector<int> ranked{0};
  for (const Trial& trial : view_.tree().trials()) {
    if (trial.evaluation.passed()) ranked.push_back(trial.node);
  }
  std::ranges::stable_sort(ranked, {}, [&](int each) { return Score(each); });
  std::vector<int> leaders;
  std::set<std::string> seen;
  int places = rules_.leaders;
  for (const int each : ranked) {
    if (each > 0 && !seen.insert(view_.tree().at(each).candidate->id()).second) continue;
    const bool outside = node == 0 || !view_.in_subtree(each, node);
    if (rules_.leaders_refill && !outside) continue;
    if (places-- == 0) break;
    if (outside && each > 0 && each != node) leaders.push_back(each);
  }
  return leaders;
}

class EpsilonGreedy final : public Strategy {
 public:
  EpsilonGreedy(Preset preset, const Seed& seed) : preset_(std::move(preset)), seed_(seed) {}
  [[nodiscard]] Move Next(const SearchTree& tree, const std::vector<InFlight>& in_flight) override;

 private:
  Preset preset_;
  Seed seed_;
};

Move EpsilonGreedy::Next(const SearchTree& tree, const std::vector<InFlight>& in_flight) {
  const TreeView view(tree, in_flight);
  Rng rng(DeriveSeed(seed_, "attempt " + std::to_string(view.attempt())));
  const Selection selection(view, preset_.tree, rng);
  const int node = selection.Node();
  const int most = preset_.tree.window;
  Move move = WorkOn(view, node);
  if (move.role == Role::kRepair) {
    move.plan_window = move.code_window = Draw(view.siblings(node), most, rng);
    return move;
  }
  move.plan_window = Draw(Joined(view.children(node), selection.Leaders(node)), most, rng);
  move.code_window = Draw(Joined(view.children(node), view.cousins(node)), most, rng);
  if (move.role == Role::kImprove)
    move.focus = ChooseFamily(preset_.families, tree, node, in_flight);
  return move;
}

}  // namespace

std::unique_ptr<Strategy> MakeEpsilonGreedy(const Preset& preset, const Seed& seed) {
  return std::make_unique<EpsilonGreedy>(preset, seed);
}

}  // namespace pragma
