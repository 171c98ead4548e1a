// Lowers an unrolled loop to a repeat of steps. What no iteration changes is computed before it.
// Each state has one buffer, which every iteration overwrites. A result that is used after the loop
// is written to a buffer with one slot for each iteration.
#pragma once

#include <vector>

#include "base/result.h"
#include "core/task.h"
#include "expert/lower/lower_node.h"
#include "expert/lower/program_builder.h"
#include "expert/lower/unrolled.h"

namespace pragma::expert {

// Fails where the loop has to stay unrolled. The program is of no use then.
[[nodiscard]] Result<void> LowerLoop(const UnrolledLoop& loop, const std::vector<GraphNode>& graph,
                                     ProgramBuilder& builder, ValuesByName& values);

}  // namespace pragma::expert
