// SearchTree: the trials of a run by parent; node 0 is the reference.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/trial.h"

namespace pragma {

class SearchTree final {
 public:
  // Trials arrive with node == size() + 1 and a parent that exists.
  void Insert(Trial trial);
  // Removes the last trial, which exists, and returns it.
  Trial TakeLast();
  [[nodiscard]] std::size_t size() const { return trials_.size(); }
  [[nodiscard]] bool empty() const { return trials_.empty(); }
  [[nodiscard]] const std::vector<Trial>& trials() const { return trials_; }
  [[nodiscard]] int next_node() const { return static_cast<int>(trials_.size()) + 1; }
  // 1 <= node <= size().
  [[nodiscard]] const Trial& at(int node) const {
    return trials_.at(static_cast<std::size_t>(node - 1));
  }
  // The trial that was last marked best, or nullptr.
  [[nodiscard]] const Trial* best() const;
  [[nodiscard]] const Trial* last() const { return trials_.empty() ? nullptr : &trials_.back(); }
  // A tree of its own, of the nodes up to `last`.
  [[nodiscard]] SearchTree UpTo(int last) const;
  [[nodiscard]] std::vector<int> children(int node) const;
  // From the first ancestor below the root down to `node`.
  [[nodiscard]] std::vector<int> PathTo(int node) const;
  // SHA-256 over node, parent, role, candidate id, status and best of every trial: two runs have
  // the same tree exactly if these agree.
  [[nodiscard]] std::string Signature() const;

 private:
  std::vector<Trial> trials_;
};

}  // namespace pragma
