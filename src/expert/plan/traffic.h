// PlannedBytes: the bytes that a planned kernel moves between memory and the caches, derived from
// its passes over its buffers. It is used to judge a kernel by the bandwidth that it reaches.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/ir/program.h"
#include "expert/ir/target.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

struct PlannedBytes {
  std::int64_t read = 0;
  std::int64_t written = 0;
};

// Returns the bytes that the nests move. A pass reads its buffers from memory unless an earlier
// pass of the same outer iteration left them in a cache: in the core's own cache, or in its share
// of the shared one. The data that a nest leaves behind are evicted before the next nest where they
// exceed half of the shared cache. An anchor counts each of its buffers once.
[[nodiscard]] PlannedBytes BytesMoved(const Program& program, const std::vector<Nest>& nests,
                                      const KernelTarget& target);

// Returns the bytes that one iteration of the outer loops reads. Down columns this is for one
// vector of columns.
[[nodiscard]] std::int64_t WorkingSet(const Program& program, const Nest& nest);

}  // namespace pragma::expert
