// Reductions over many elements. They are cut into parts whose results are added up, by one thread
// or by all. Each part starts anew and is added to a total, so that rounding errors do not grow
// with the length, and so that threads can share the parts.
#pragma once

#include <cstdint>
#include <string>

#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// Returns whether a pass sums so many elements that they are cut into parts.
[[nodiscard]] bool NeedsParts(const Nest& nest, const Phase& phase);
// Returns whether parts are blocks of the only inner dimension. Otherwise they are steps of the
// first one.
[[nodiscard]] bool CutsLane(const Nest& nest);

// Writes a nest that is one reduction (FoldsEverything).
void WriteSharedFold(NestContext& context);
// Writes one pass in parts, divided among threads if `parallel` is set.
void WriteInParts(NestContext& context, NestFolds& folds, const Phase& phase, bool parallel);

// The ends of a loop along the lanes, as code.
struct LaneRange {
  std::string from = "0";
  std::string to;  // empty: the end of the dimension
};
// Opens a loop over blocks of `size` elements and returns the range of one block.
[[nodiscard]] LaneRange OpenBlocks(NestContext& context, std::int64_t size);

}  // namespace pragma::expert
