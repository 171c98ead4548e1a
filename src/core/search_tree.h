// SearchTree: the trials of a run, linked by parent. Node 0 is the reference.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/trial.h"

namespace pragma {

class SearchTree final {
 public:
  // Adds a trial. Its node must be size() + 1 and its parent must exist.
  void Insert(Trial trial);
  // Removes the last trial and returns it. There must be one.
  Trial TakeLast();
  [[nodiscard]] std::size_t size() const { return trials_.size(); }
  [[nodiscard]] bool empty() const { return trials_.empty(); }
  [[nodiscard]] const std::vector<Trial>& trials() const { return trials_; }
  [[nodiscard]] int next_node() const { return static_cast<int>(trials_.size()) + 1; }
  // Returns the trial of a node. 1 <= node <= size().
  [[nodiscard]] const Trial& at(int node) const {
    return trials_.at(static_cast<std::size_t>(node - 1));
  }
  // Returns the trial that was marked best last, or nullptr.
  [[nodiscard]] const Trial* best() const;
  [[nodiscard]] const Trial* last() const { return trials_.empty() ? nullptr : &trials_.back(); }
  // Returns a separate tree of the nodes up to `last`.
  [[nodiscard]] SearchTree UpTo(int last) const;
  [[nodiscard]] std::vector<int> children(int node) const;
  // Returns the path from the first ancestor below the root down to `node`.
  [[nodiscard]] std::vector<int> PathTo(int node) const;
  // Returns SHA-256 over node, parent, role, candidate id, status and best of every trial. Two runs
  // have the same tree exactly if their signatures agree.
  [[nodiscard]] std::string Signature() const;

 private:
  std::vector<Trial> trials_;
};

}  // namespace pragma
