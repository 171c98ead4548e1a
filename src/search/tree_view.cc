#include "search/tree_view.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "search/strategy.h"

namespace pragma {

double LogSpeedup(const Trial& trial) {
  const Evaluation& evaluation = trial.evaluation;
  if (!evaluation.passed() || !evaluation.speedup_eager) return -kNoScore;
  return std::log(evaluation.speedup_eager->median);
}

TreeView::TreeView(const SearchTree& tree, const std::vector<InFlight>& in_flight)
    : tree_(tree),
      children_(tree.size() + 1),
      flying_(tree.size() + 1),
      attempt_(tree.next_node() + static_cast<int>(in_flight.size())) {
  for (const Trial& trial : tree.trials())
    children_[static_cast<std::size_t>(trial.parent)].push_back(trial.node);
  for (const InFlight& flying : in_flight) ++flying_.at(static_cast<std::size_t>(flying.move.node));
}

const std::vector<int>& TreeView::children(int node) const {
  return children_[static_cast<std::size_t>(node)];
}

int TreeView::in_flight(int node) const { return flying_[static_cast<std::size_t>(node)]; }

int TreeView::selections(int node) const {
  return static_cast<int>(children(node).size()) + in_flight(node);
}

int TreeView::depth(int node) const {
  int depth = 0;
  for (int at = node; at > 0; at = parent(at)) ++depth;
  return depth;
}

bool TreeView::passed(int node) const { return node == 0 || tree_.at(node).evaluation.passed(); }

bool TreeView::has_code(int node) const { return node == 0 || tree_.at(node).candidate; }

bool TreeView::in_subtree(int node, int root) const {
  int at = node;
  while (at > root) at = parent(at);  // a parent has a smaller number
  return at == root;
}

std::vector<int> TreeView::siblings(int node) const {
  std::vector<int> others;
  if (node == 0) return others;
  for (const int child : children(parent(node))) {
    if (child != node) others.push_back(child);
  }
  return others;
}

std::vector<int> TreeView::cousins(int node) const {
  std::vector<int> found;
  for (const int sibling : siblings(node)) {
    found.insert(found.end(), children(sibling).begin(), children(sibling).end());
  }
  return found;
}

int TreeView::repairs_in_a_row(int node) const {
  int repairs = 0;
  for (int at = node; at > 0 && tree_.at(at).role == Role::kRepair; at = parent(at)) ++repairs;
  return repairs;
}

double TreeView::runtime(int node) const {
  if (node > 0) {
    const Evaluation& evaluation = tree_.at(node).evaluation;
    return evaluation.passed() && evaluation.timing ? evaluation.timing->ms.median : kNoScore;
  }
  double eager = 0;  // better than any failure
  for (const Trial& trial : tree_.trials()) {
    if (trial.evaluation.eager) eager = trial.evaluation.eager->ms.median;
  }
  return eager;
}

double TreeView::log_speedup(int node) const { return node == 0 ? 0 : LogSpeedup(tree_.at(node)); }

Move WorkOn(const TreeView& view, int node) {
  if (node == 0) return {};
  return {.node = node, .role = view.passed(node) ? Role::kImprove : Role::kRepair};
}

}  // namespace pragma
