// Runs sanitizers on kernels and records their results in the store. A search need not run them
// again on object code that has passed all of them.
#pragma once

#include "app/task_bench.h"
#include "base/result.h"
#include "core/candidate.h"
#include "store/store.h"
#include "verify/verifier.h"

namespace pragma {

struct Evaluation;

// Calls TaskBench::Sanitize. If all sanitizers pass, that is recorded for later searches.
[[nodiscard]] Result<void> SanitizeAnew(Store& store, TaskBench& task, const Candidate& candidate,
                                        Evaluation& evaluation, const Verifier::Progress& progress);
// Runs the sanitizers without reporting progress. It skips them if the same object code passed on
// the same task before, and adds a check that says so.
[[nodiscard]] Result<void> SanitizeOnce(Store& store, TaskBench& task, const Candidate& candidate,
                                        Evaluation& evaluation);

}  // namespace pragma
