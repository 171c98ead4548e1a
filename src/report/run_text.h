// Formats a run for people: the table of its trials, the list of runs, the final summary.
#pragma once

#include <string>
#include <vector>

#include "core/trial_summary.h"
#include "report/terminal.h"
#include "store/store.h"

namespace pragma {

// Returns one row per trial, each after its parent: node, parent, role, author and bottleneck (if
// informative), status, speedup, tokens, and what was requested.
[[nodiscard]] std::string TrialsText(const Terminal& terminal,
                                     const std::vector<TrialSummary>& trials);
[[nodiscard]] std::string RunsText(const Terminal& terminal, const std::vector<RunRecord>& runs);
// Returns the comparison that decided whether the trial became the best, such as "against the best:
// 1.01x [0.97, 1.05], not better". Empty where there was none, as for the first that passed.
[[nodiscard]] std::string AgainstBest(const TrialSummary& trial);
// Returns "attempt 3/15: wrong_values: max abs error 0.3 ..." for logs and plain progress output.
[[nodiscard]] std::string TrialLine(const TrialSummary& trial, int attempts);

}  // namespace pragma
