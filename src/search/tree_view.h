// TreeView: the queries of the policies to a tree. Attempts in flight are counted as children
// without an outcome. Private to search/.
#pragma once

#include <vector>

#include "core/search_tree.h"
#include "search/strategy.h"

namespace pragma {

struct Trial;

// The worst score, which a node that is not correct has.
inline constexpr double kNoScore = 1e300;

// Returns the logarithm of the paired speedup over eager, or -kNoScore for a failure.
[[nodiscard]] double LogSpeedup(const Trial& trial);

// Borrows the tree. Nodes are numbered from 0, the reference.
class TreeView final {
 public:
  TreeView(const SearchTree& tree, const std::vector<InFlight>& in_flight);

  [[nodiscard]] const SearchTree& tree() const { return tree_; }
  [[nodiscard]] int nodes() const { return static_cast<int>(children_.size()); }
  // Returns the number of the attempt that is being decided.
  [[nodiscard]] int attempt() const { return attempt_; }
  [[nodiscard]] int parent(int node) const { return node == 0 ? -1 : tree_.at(node).parent; }
  [[nodiscard]] const std::vector<int>& children(int node) const;  // those that have ended
  [[nodiscard]] int in_flight(int node) const;                     // children in flight
  [[nodiscard]] int selections(int node) const;                    // number of all children
  [[nodiscard]] int depth(int node) const;                         // 0: the reference
  [[nodiscard]] bool passed(int node) const;                       // true for the reference
  [[nodiscard]] bool has_code(int node) const;                     // true for the reference
  [[nodiscard]] bool in_subtree(int node, int root) const;         // true for the root itself
  // Siblings are the other children of the node's parent, and cousins are the children of those.
  // The reference has neither.
  [[nodiscard]] std::vector<int> siblings(int node) const;
  [[nodiscard]] std::vector<int> cousins(int node) const;
  // Returns the length of the chain of repairs that ends at the node: itself and its ancestors, as
  // long as each is a repair.
  [[nodiscard]] int repairs_in_a_row(int node) const;
  // Returns milliseconds; lower is better. For the reference it is the time of eager as last
  // measured.
  [[nodiscard]] double runtime(int node) const;
  // Returns the logarithm of the paired speedup over eager: 0 for the reference, -kNoScore for a
  // failure.
  [[nodiscard]] double log_speedup(int node) const;

 private:
  const SearchTree& tree_;
  std::vector<std::vector<int>> children_;
  std::vector<int> flying_;
  int attempt_;
};

// Returns the move on a node with its role: kSeed from the reference, otherwise improve or repair.
[[nodiscard]] Move WorkOn(const TreeView& view, int node);

}  // namespace pragma
