// What the Python server does for islands (core/islands.h): it times the operators of a task's
// graph and writes each island as a task file of its own (docs/islands.md).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/islands.h"
#include "task/torch_server.h"

namespace pragma {

struct IslandTask {
  std::string source;  // text of a file in KernelBench's format
  // Path of each argument of that task ("args[0]", "weight") -> name of the value in the whole's
  // graph.
  std::map<std::string, std::string> arguments;
  std::vector<std::string> outputs;  // names of the values that it makes, in order
};

// One step of the whole: a call of an island, or an operator of Torch.
struct IslandStep {
  int island = -1;   // index; -1: an operator
  std::string line;  // of Python, for an operator: "mul = torch.ops.aten.mul.Tensor(x, 2.0)"
};

struct IslandOrder {
  std::vector<IslandStep> steps;     // in an order in which each finds its inputs computed
  std::vector<std::string> results;  // names of the whole's outputs, in order
};

// Writes each island as a task. Runs forward once to see which values cross the borders.
[[nodiscard]] Result<std::vector<IslandTask>> CutIslands(TorchServer& server,
                                                         std::span<const Island> islands);
// Returns how the whole is computed from these islands and Torch's other operators.
[[nodiscard]] Result<IslandOrder> ArrangeIslands(TorchServer& server,
                                                 std::span<const Island> islands);

// Returns the seconds that each operator takes when Torch runs the graph's operators one by one.
[[nodiscard]] Result<std::map<std::string, double>> OperatorSeconds(TorchServer& server);

}  // namespace pragma
