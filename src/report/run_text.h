// A run as people read it: the table of its trials, the list of runs, the last words.
#pragma once

#include <string>
#include <vector>

#include "core/trial_summary.h"
#include "report/terminal.h"
#include "store/store.h"

namespace pragma {

// One row per trial, each after its parent: node, parent, role, author and bottleneck where there
// is something to tell, status, speedup, tokens, what was asked for.
[[nodiscard]] std::string TrialsText(const Terminal& terminal,
                                     const std::vector<TrialSummary>& trials);
[[nodiscard]] std::string RunsText(const Terminal& terminal, const std::vector<RunRecord>& runs);
// "attempt 3/15: wrong_values: max abs error 0.3 ..." for logs and plain progress.
[[nodiscard]] std::string TrialLine(const TrialSummary& trial, int attempts);

}  // namespace pragma
