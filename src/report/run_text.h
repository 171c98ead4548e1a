// A run as people read it: the table of its trials, the list of runs, the last words.
#pragma once

#include <string>
#include <vector>

#include "core/search_tree.h"
#include "core/trial.h"
#include "report/terminal.h"
#include "store/store.h"

namespace pragma {

// One row per trial, each after its parent: node, parent, role, author and bottleneck where there
// is something to tell, status, speedup, tokens, what was asked for.
[[nodiscard]] std::string TrialsText(const Terminal& terminal, const SearchTree& tree);
[[nodiscard]] std::string RunsText(const Terminal& terminal, const std::vector<RunRecord>& runs);
// The first bottleneck that the profile names; empty: there is none.
[[nodiscard]] std::string BottleneckOf(const Trial& trial);
// "attempt 3/15: wrong_values: max abs error 0.3 ..." for logs and plain progress.
[[nodiscard]] std::string TrialLine(const Trial& trial, int attempts);

}  // namespace pragma
