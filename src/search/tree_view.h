// TreeView: what the policies ask of a tree, with the attempts in flight counted as children that
// have no outcome yet. Private to search/.
#pragma once

#include <vector>

#include "core/search_tree.h"
#include "core/trial.h"
#include "search/strategy.h"

namespace pragma {

// The worst score: a node that is not correct.
inline constexpr double kNoScore = 1e300;

// log of the paired speedup over eager; -kNoScore of a failure.
[[nodiscard]] double LogSpeedup(const Trial& trial);

// Borrows the tree. Nodes count from 0, the reference.
class TreeView final {
 public:
  TreeView(const SearchTree& tree, const std::vector<InFlight>& in_flight);

  [[nodiscard]] const SearchTree& tree() const { return tree_; }
  [[nodiscard]] int nodes() const { return static_cast<int>(children_.size()); }
  // The number of the attempt that is being decided on.
  [[nodiscard]] int attempt() const { return attempt_; }
  [[nodiscard]] int parent(int node) const { return node == 0 ? -1 : tree_.at(node).parent; }
  [[nodiscard]] const std::vector<int>& children(int node) const;  // that have ended
  [[nodiscard]] int in_flight(int node) const;                     // that have not
  [[nodiscard]] int selections(int node) const;                    // both
  [[nodiscard]] int depth(int node) const;                         // 0: the reference
  [[nodiscard]] bool passed(int node) const;                       // true of the reference
  [[nodiscard]] bool has_code(int node) const;                     // true of the reference
  [[nodiscard]] bool in_subtree(int node, int root) const;         // a node is in its own
  // Other children of its parent, and the children of those; none of the reference.
  [[nodiscard]] std::vector<int> siblings(int node) const;
  [[nodiscard]] std::vector<int> cousins(int node) const;
  // How many repairs the node ends: itself and its ancestors, as far as each is one.
  [[nodiscard]] int repairs_in_a_row(int node) const;
  // Milliseconds, lower is better; the reference's is eager's as it was measured last.
  [[nodiscard]] double runtime(int node) const;
  // log of the paired speedup over eager; 0 of the reference, -kNoScore of a failure.
  [[nodiscard]] double log_speedup(int node) const;

 private:
  const SearchTree& tree_;
  std::vector<std::vector<int>> children_;
  std::vector<int> flying_;
  int attempt_;
};

// The move on a node with its role: kSeed from the reference, else improve or repair.
[[nodiscard]] Move WorkOn(const TreeView& view, int node);

}  // namespace pragma
