// Finds the results of nests that need no memory of their own.
#pragma once

#include <map>
#include <vector>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// Returns the number of nests that read each buffer.
[[nodiscard]] std::map<int, int> ReadersOf(const std::vector<Nest>& nests);

// Marks scratch buffers that only their own nest reads, for nests whose later passes read from
// memory what earlier ones wrote. A result that its nest changes and writes again to another buffer
// is written there at once.
void ForwardInPasses(const Program& program, std::vector<Nest>& nests);
// The same for nests that compute such values again: whatever only one nest uses needs no memory.
void ForwardAlways(const Program& program, std::vector<Nest>& nests);

}  // namespace pragma::expert
