// One node of a graph, for what lowers graphs: LowerTask and LowerLoop.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {

using ValuesByName = std::map<std::string, std::vector<Value>>;  // results of nodes

// Adds the results of a node to `values`.
[[nodiscard]] Result<void> LowerNode(const GraphNode& node, ProgramBuilder& builder,
                                     ValuesByName& values);

}  // namespace pragma::expert
