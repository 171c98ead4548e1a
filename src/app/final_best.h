// Measures the final best of a search, as far as there is time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "search/session.h"

namespace pragma {

struct FinalBest {
  std::optional<Evaluation> evaluation;  // nullopt: as the search measured it
  std::vector<std::string> left_out;     // what there was no time for
  bool interrupted = false;              // by the user
};

struct FinalParts {
  const AppContext& context;
  const Workbench& bench;
  TaskBench& task;
};

// Measures the best in fresh processes, because the winner of a search was lucky as well as fast,
// and then its call. A request to stop ends what is under way and loses nothing that was found.
[[nodiscard]] Result<FinalBest> MeasureBest(const FinalParts& parts, const SessionResult& session,
                                            const SearchPlan& plan, const SearchObserver& observer);

// Returns how much of the time an ended search leaves to the figure of a call.
[[nodiscard]] Seconds TimeForCall(const SearchPlan& plan);

}  // namespace pragma
