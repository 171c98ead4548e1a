// Ends a search: prints the result table or the JSON object. optimize and resume share this.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/islands.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "cli/command.h"
#include "report/islands_text.h"

namespace pragma {

// Exports the best kernel into `out` if that is not empty, prints everything, and returns the exit
// code. `islands` is what became of the islands of a divided task; may be nullptr.
[[nodiscard]] Result<int> FinishSearch(const Context& context, const Workbench& bench,
                                       TaskBench& task, const SearchPlan& plan,
                                       const SearchOutcome& outcome, const std::string& out,
                                       const IslandsOutcome* islands = nullptr);

// Returns the islands for people. `kept` lists the indices of those that the best contains.
[[nodiscard]] IslandRows RowsOf(const IslandsOutcome& outcome,
                                const std::vector<std::size_t>& kept);

// Returns the observer with a further duty: each new best is written to `out` at once (empty:
// nowhere), so that it is there whatever happens later.
[[nodiscard]] SearchObserver KeepingBest(SearchObserver observer, const Context& context,
                                         const Workbench& bench, const TaskBench& task,
                                         const std::string& out);

}  // namespace pragma
