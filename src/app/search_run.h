// Runs a search from its settings to the measured final best. optimize, resume and bench share
// this.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/context.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/deadline.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "report/json_text.h"
#include "report/search_progress.h"
#include "search/session.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {

struct SearchOutcome {
  SessionResult session;
  // The best, measured again in fresh processes if it was chosen among several (ChosenFromSeveral).
  std::optional<Evaluation> final_best;
  CallCounts calls;
  std::string bundle;                 // sha256 of the best's evidence; empty: there is none
  std::vector<std::string> left_out;  // what there was no time for after the search
};

// Returns the seconds of the budget that the run's attempts have not used. It may be negative.
[[nodiscard]] Result<double> SecondsLeft(const Store& store, const std::string& run,
                                         const Budget& budget);

struct SearchPlan {
  RunRecord run;
  RunSettings settings;
  Budget budget;
  bool compile_baseline = true;
  bool retune = false;        // do not use what earlier tunings on this machine found
  bool call = true;           // measure ModelNew against Model for the final best
  bool measure_again = true;  // the best, and its call
  // When the command's time is up. Without one, the budget's time counts from the first attempt.
  Deadline deadline;
};

// What is called while a search runs. All members may be empty. Calls come from one thread at a
// time.
struct SearchObserver {
  std::function<void(int attempt, std::string_view phase)> on_phase;
  std::function<void(const Trial& trial, const SearchTree& tree)> on_trial;
  // A candidate is the best as far as is known before its profile and its sanitizers.
  std::function<void(const Trial& trial)> on_best;
};

// Returns an observer that shows the search on a line of progress. `progress` must outlive it.
[[nodiscard]] SearchObserver ObserverOf(SearchProgress& progress);

// Runs the session, measures the best again, and finishes the run in the store. An interrupted run
// keeps its best as the search measured it, and can be resumed.
[[nodiscard]] Result<SearchOutcome> RunSearch(const AppContext& context, Workbench& bench,
                                              TaskBench& task, const SearchPlan& plan,
                                              const SearchObserver& observer);

// Tells whether a win could be luck. If only one attempt was asked for and nothing was tuned, no
// figure was chosen for being good. A second measurement would then be no better than the first.
[[nodiscard]] bool ChosenFromSeveral(const SearchPlan& plan);

// Returns the evaluation to report: the one measured again, or (if interrupted) that of the search.
[[nodiscard]] const Evaluation* ReportedBest(const SearchOutcome& outcome);

}  // namespace pragma
