// The drop-in figure: ModelNew, as export writes it, against Model, both allocating by default.
// What someone gains who replaces the one by the other and changes nothing else.
#pragma once

#include "base/result.h"
#include "cli/command.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "verify/verifier.h"

namespace pragma {

// Adds the figure to the passed evaluation of `candidate`, or a note that says why there is none. A
// Python candidate is its own drop-in. An Error only for our own trouble.
[[nodiscard]] Result<void> AddDropIn(const Context& context, const Workbench& bench,
                                     TaskBench& task, const Candidate& candidate,
                                     Evaluation& evaluation, const Verifier::Progress& progress);

}  // namespace pragma
