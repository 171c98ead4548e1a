#include "app/recorded_run.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "app/evidence_keeping.h"
#include "base/result.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "search/recording.h"
#include "store/store.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;

std::string ReusedKey(const std::string& run) { return "reused-calls/" + run; }

Result<std::size_t> ReusedCalls(const Store& store, const std::string& run) {
  const std::optional<std::string> kept = TRY(store.GetFigure(ReusedKey(run)));
  return kept ? std::strtoull(kept->c_str(), nullptr, 10) : 0;
}

}  // namespace

Result<Store> OpenExistingStore(const fs::path& home) {
  std::error_code ignored;
  if (!fs::exists(home / "pragma.db", ignored)) {
    return Fail(ErrorKind::kUsage, "there are no runs in " + home.string() +
                                       "; name the folder that has them with --home");
  }
  return Store::Open(home);
}

Result<RecordedRun> LoadRecordedRun(const Store& store, const std::string& id) {
  RecordedRun recorded;
  recorded.run = TRY(store.FindRun(id));
  for (Trial& trial : TRY(store.Trials(recorded.run.id))) recorded.tree.Insert(std::move(trial));
  recorded.calls.asked = TRY(store.CountCalls(recorded.run.id));
  recorded.calls.reused = TRY(ReusedCalls(store, recorded.run.id));
  recorded.bundles = TRY(BundlesOf(store, recorded.run.id, recorded.tree));
  return recorded;
}

Result<RunOutline> LoadRunOutline(const Store& store, const std::string& id) {
  RunOutline outline;
  outline.run = TRY(store.FindRun(id));
  outline.trials = TRY(store.Summaries(outline.run.id));
  for (std::size_t i = 0; i < outline.trials.size(); ++i) {
    if (outline.trials[i].node != static_cast<int>(i) + 1)
      return Fail(fmt::format("the run {} lacks the trial {}", outline.run.id, i + 1));
  }
  const TrialSummary* best = BestOf(outline.trials);
  outline.bundle = TRY(BestBundle(store, outline.run.id, best == nullptr ? 0 : best->node));
  return outline;
}

Result<void> AddReusedCalls(Store& store, const std::string& run, std::size_t reused) {
  if (reused == 0) return {};
  return store.PutFigure(ReusedKey(run), std::to_string(TRY(ReusedCalls(store, run)) + reused));
}

Result<Recording> FindRecording(const fs::path& home, const std::string& what) {
  std::error_code ignored;
  if (fs::is_regular_file(what, ignored)) return LoadRecording(what);
  if (what.find('/') != std::string::npos || what.ends_with(".jsonl")) {
    return Fail(ErrorKind::kUsage, "no such recording: " + what);
  }
  const Store store = TRY(OpenExistingStore(home));
  return RecordRun(store, TRY(store.FindRun(what)).id);
}

}  // namespace pragma
