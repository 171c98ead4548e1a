// Rows: vectors run along an inner dimension, or there are no vectors.
#pragma once

#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/cpp/nest_parts.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// Returns whether a long run in a nest that only maps is cut, so that threads can share it.
[[nodiscard]] bool SharesLaneOut(const Nest& nest);
void WriteRows(NestContext& context);
// Writes one pass along the row, or along a range of it.
void WriteRowPass(NestContext& context, NestFolds& folds, const Phase& phase,
                  const LaneRange& range);

}  // namespace pragma::expert
