// RecordedRun is a run as recorded in the store.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/search_tree.h"
#include "core/trial_summary.h"
#include "report/json_text.h"
#include "search/recording.h"
#include "store/store.h"

namespace pragma {

struct RecordedRun {
  RunRecord run;
  SearchTree tree;
  CallCounts calls;
  BundleNames bundles;
};

// What a list of a run's attempts needs. It is some 20x faster to read than a RecordedRun.
struct RunOutline {
  RunRecord run;
  std::vector<TrialSummary> trials;
  std::string bundle;  // sha256 of the best's evidence; empty: there is none
};

// Commands that look at runs never create a store. Fails with kUsage if there is none.
[[nodiscard]] Result<Store> OpenExistingStore(const std::filesystem::path& home);
// `id` is a run's id, the beginning of one, or "last".
[[nodiscard]] Result<RecordedRun> LoadRecordedRun(const Store& store, const std::string& id);
[[nodiscard]] Result<RunOutline> LoadRunOutline(const Store& store, const std::string& id);

// Adds to the number of replies that a resumed run took from the record instead of asking again.
[[nodiscard]] Result<void> AddReusedCalls(Store& store, const std::string& run, std::size_t reused);

// Loads a recording. `what` is a recording's file, or the id of a run in the store at `home`.
[[nodiscard]] Result<Recording> FindRecording(const std::filesystem::path& home,
                                              const std::string& what);

}  // namespace pragma
