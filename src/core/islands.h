// Islands: parts of a task's graph that an author can write as one kernel, while the operators
// between them stay Torch's (docs/islands.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/task.h"

namespace pragma {

// Island: a convex part of a task's graph. No path leaves it and comes back, so it can be computed
// in one call.
struct Island {
  std::vector<std::string> nodes;  // names of its operators, in execution order
};

// Returns whether an author can write a kernel for a task.
using CanWrite = std::function<bool(const Task&)>;

struct Partition {
  std::vector<Island> islands;
  // The operators ("aten.sort.default") that stay Torch's although they compute something, each
  // once, in execution order.
  std::vector<std::string> left;
  // True if one island holds every operator: the task needs no partition.
  bool whole = false;
};

// Returns the islands of a task's graph, each as large as possible. `can_write` is asked about
// single operators first and then about the islands made of them; an island that cannot be written
// is halved until its parts can. Operators that depend on no argument (a mask, a range of
// positions) may be part of several islands. Islands that only rearrange a tensor are left out.
[[nodiscard]] Partition FindIslands(const Task& task, const CanWrite& can_write);

// Returns the island as a task of its own. Its arguments are the values that the island reads,
// under the names of the nodes that make them, and its outputs those that something outside reads.
// The task has no source. Nothing is returned (an empty graph) if a border value has no element
// type that kernels know.
[[nodiscard]] Task CutTask(const Task& task, const Island& island);

}  // namespace pragma
