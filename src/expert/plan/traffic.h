// PlannedBytes: what a planned kernel moves between memory and the caches, from the passes that it
// makes over its buffers; for judging a kernel by the bandwidth that it reaches.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/ir/target.h"
#include "expert/plan/nest.h"
#include "expert/ir/program.h"

namespace pragma::expert {

struct PlannedBytes {
  std::int64_t read = 0;
  std::int64_t written = 0;
};

// A pass reads its buffers from memory unless an earlier pass of the same outer iteration left them
// in a cache: in the core's own, or in its share of the common one. What a nest leaves behind is
// gone before the next one where it is larger than half the common cache. An anchor counts each of
// its buffers once.
[[nodiscard]] PlannedBytes BytesMoved(const Program& program, const std::vector<Nest>& nests,
                                      const KernelTarget& target);

// Bytes that one iteration of the outer loops reads; down columns with one vector of them.
[[nodiscard]] std::int64_t WorkingSet(const Program& program, const Nest& nest);

}  // namespace pragma::expert
