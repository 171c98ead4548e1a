// Columns: vectors run along an outer dimension, side by side.
#pragma once

#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_folds.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

void WriteColumns(NestContext& context);
// Writes the steps of an outer phase for the V vectors of one iteration.
void WriteColumnsOnce(NestContext& context, const Phase& phase);

}  // namespace pragma::expert
