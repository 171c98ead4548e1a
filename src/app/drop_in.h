// The drop-in figure compares ModelNew, as export writes it, with Model. Both use the default
// allocator setting. The figure is the gain of a user who replaces Model by ModelNew and changes
// nothing else.
#pragma once

#include "app/context.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "core/candidate.h"
#include "verify/verifier.h"

namespace pragma {

struct Evaluation;

// Adds the figure to the evaluation of `candidate` if that passed, or adds a note that says why
// there is none. A Python candidate is its own drop-in. Returns an Error only for trouble of pragma
// itself.
[[nodiscard]] Result<void> AddDropIn(const AppContext& context, const Workbench& bench,
                                     TaskBench& task, const Candidate& candidate,
                                     Evaluation& evaluation, const Verifier::Progress& progress);

}  // namespace pragma
