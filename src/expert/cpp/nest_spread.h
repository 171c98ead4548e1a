// Computes a sum, and the sum of squared distances from a center derived from it, in one pass over
// memory. Each part of the values is summed. It is then read again, while the core's cache still
// holds it, for the distances from the part's own mean. The parts are combined in double precision.
// This is as accurate as two passes over all values, because no number that is far from its part's
// mean is squared.
#pragma once

#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/plan/nest.h"
#include "expert/plan/spread.h"

namespace pragma::expert {

// Returns whether a nest has such a sum whose parts are blocks of the dimension of the lanes.
[[nodiscard]] bool SpreadCutsLane(const Nest& nest);
// Writes the passes `phase` and the next one as one.
void WriteSpread(NestContext& context, NestFolds& folds, const Phase& phase, const Spread& spread);

}  // namespace pragma::expert
