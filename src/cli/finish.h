// Ends a search: prints the result table or the JSON object. optimize and resume share this.
#pragma once

#include <string>

#include "app/search_run.h"
#include "app/workbench.h"
#include "base/result.h"
#include "cli/command.h"

namespace pragma {

// Exports the best kernel into `out` if that is not empty, prints everything, and returns the exit
// code.
[[nodiscard]] Result<int> FinishSearch(const Context& context, const Workbench& bench,
                                       TaskBench& task, const SearchPlan& plan,
                                       const SearchOutcome& outcome, const std::string& out);

}  // namespace pragma
