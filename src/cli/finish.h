// The end of a search: result table, JSON object, exit code; what optimize and resume share.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/search_run.h"
#include "cli/workbench.h"

namespace pragma {

// Exports the best into `out` when it is not empty, prints everything, returns the exit code.
[[nodiscard]] Result<int> FinishSearch(const Context& context, const Workbench& bench,
                                       TaskBench& task, const SearchPlan& plan,
                                       const SearchOutcome& outcome, const std::string& out);

}  // namespace pragma
