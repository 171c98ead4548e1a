// RecordedRun: a run as the store has it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "core/search_tree.h"
#include "core/trial_summary.h"
#include "report/json_text.h"
#include "store/store.h"

namespace pragma {

struct RecordedRun {
  RunRecord run;
  SearchTree tree;
  CallCounts calls;
  BundleNames bundles;
};

// What a list of the run's attempts needs: some 20 times as quick to read.
struct RunOutline {
  RunRecord run;
  std::vector<TrialSummary> trials;
  std::string bundle;  // sha256 of the best's evidence; empty: there is none
};

// Looking at runs never creates a store: kUsage when there is none.
[[nodiscard]] Result<Store> OpenExistingStore(const Context& context);
// `id`: a run, its beginning, or "last".
[[nodiscard]] Result<RecordedRun> LoadRecordedRun(const Store& store, const std::string& id);
[[nodiscard]] Result<RunOutline> LoadRunOutline(const Store& store, const std::string& id);

// Counts replies that a resumed run took from the record instead of asking again.
[[nodiscard]] Result<void> AddReusedCalls(Store& store, const std::string& run, std::size_t reused);

}  // namespace pragma
