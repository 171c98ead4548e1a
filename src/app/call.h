// Measures the call: ModelNew beside Model, both called from Python (Evaluation::call). It is what
// a user gains, and the headline of a run.
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
// there is none. A Python candidate is its own ModelNew. Returns an Error only for trouble of
// pragma itself.
[[nodiscard]] Result<void> AddCall(const AppContext& context, const Workbench& bench,
                                   TaskBench& task, const Candidate& candidate,
                                   Evaluation& evaluation, const Verifier::Progress& progress);

}  // namespace pragma
