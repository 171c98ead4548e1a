// Unrolled loops. torch.export writes a Python loop over time as its operators, once for each
// iteration. Here the iterations are found again: the same operators follow each other many times,
// differ by one index, and each iteration hands values on to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/task.h"

namespace pragma::expert {

// A value that an iteration needs from the one before.
struct LoopState {
  std::string name;      // as the body calls it
  std::string initial;   // the node that the first iteration reads, before the loop
  std::size_t node = 0;  // number of the node in the body that makes it for the next iteration
  bool written = false;  // the body only writes one index of it, and the index advances
};

// A value from before the loop that is another one in each iteration.
struct LoopInput {
  std::string name;                 // as the body calls it
  std::vector<std::string> values;  // nodes of the graph, one for each iteration
};

struct UnrolledLoop {
  std::size_t first = 0;  // number of its first node in the graph
  std::int64_t count = 0;
  // The nodes of the first iteration. They refer to states and inputs by the names above.
  std::vector<GraphNode> body;
  std::vector<LoopState> states;
  std::vector<LoopInput> inputs;
  std::set<std::string> invariant;    // nodes from before the loop that each iteration reads alike
  std::set<std::size_t> overwritten;  // nodes that read only what is then written over
  std::set<std::size_t> advancing;    // nodes of the body with an index that advances
  [[nodiscard]] bool IsWritten(std::size_t node) const;  // it makes a state that is only written
  [[nodiscard]] std::size_t end() const {                // number of the first node after the loop
    return first + body.size() * static_cast<std::size_t>(count);
  }
};

// Returns the loops in order. Each has at least eight iterations and a state.
[[nodiscard]] std::vector<UnrolledLoop> FindLoops(const std::vector<GraphNode>& graph);

// Returns a node of the body as iteration `turn` has it: with its own indices.
[[nodiscard]] GraphNode NodeOfTurn(const UnrolledLoop& loop, const std::vector<GraphNode>& graph,
                                   std::size_t node, std::int64_t turn);

[[nodiscard]] std::set<std::string> ReferencesOf(const GraphNode& node);

// Calls `visit` with the name of each node that a node refers to, in order.
template <typename Visit>
void VisitReferences(const std::vector<ScalarValue>& args, const Visit& visit) {
  for (const ScalarValue& arg : args) {
    if (arg.kind == ScalarValue::Kind::kNode) visit(arg.text);
    VisitReferences(arg.items, visit);
  }
}
template <typename Visit>
void VisitReferences(const GraphNode& node, const Visit& visit) {
  VisitReferences(node.args, visit);
  for (const NamedValue& keyword : node.kwargs)
    VisitReferences(std::vector<ScalarValue>{keyword.value}, visit);
}

}  // namespace pragma::expert
