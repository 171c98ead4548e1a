// A search from its settings to the measured final best: what optimize, resume and bench share.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/workbench.h"
#include "core/evaluation.h"
#include "report/json_text.h"
#include "search/session.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {

struct SearchOutcome {
  SessionResult session;
  // Measured again in fresh processes, where there was a choice (ChosenFromSeveral).
  std::optional<Evaluation> final_best;
  CallCounts calls;
  std::string bundle;  // sha256 of the best's evidence; empty: there is none
};

struct SearchPlan {
  RunRecord run;
  RunSettings settings;
  Budget budget;
  bool compile_baseline = true;
  bool retune = false;  // do not use what earlier tunings on this machine found
  bool drop_in = true;  // measure ModelNew against Model for the final best
  std::string label;    // set where several searches report side by side
};

// Runs the session, measures the best again, and finishes the run in the store. An interrupted run
// keeps its best as it was measured, and can be resumed.
[[nodiscard]] Result<SearchOutcome> RunSearch(const Context& context, Workbench& bench,
                                              TaskBench& task, const SearchPlan& plan);

// Whether a win could be luck. Where one attempt was all that was asked for and nothing was tuned,
// no figure was chosen for being good, and a second one would be no better than the first.
[[nodiscard]] bool ChosenFromSeveral(const SearchPlan& plan);

// The evaluation to report: measured again, or (interrupted) as it was measured in the search.
[[nodiscard]] const Evaluation* ReportedBest(const SearchOutcome& outcome);

}  // namespace pragma
