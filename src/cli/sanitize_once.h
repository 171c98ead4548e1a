// Sanitizers on kernels, and what the store remembers of them: a search need not ask again about
// code that has passed all of them.
#pragma once

#include "base/result.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "core/evaluation.h"
#include "store/store.h"
#include "verify/verifier.h"

namespace pragma {

// TaskBench::Sanitize; that all passed is kept for searches.
[[nodiscard]] Result<void> SanitizeAnew(Store& store, TaskBench& task, const Candidate& candidate,
                                        Evaluation& evaluation, const Verifier::Progress& progress);
// In silence. Not asked again where the same object code passed on the same task before; the checks
// say so.
[[nodiscard]] Result<void> SanitizeOnce(Store& store, TaskBench& task, const Candidate& candidate,
                                        Evaluation& evaluation);

}  // namespace pragma
