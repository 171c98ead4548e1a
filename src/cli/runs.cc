// pragma runs lists the runs in the store.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/evidence_keeping.h"
#include "cli/recorded_run.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "report/json_text.h"
#include "report/run_text.h"
#include "store/store.h"

namespace pragma {
namespace {

struct RunsFlags {
  int limit = 20;
};

Result<int> Runs(const Context& context, const RunsFlags& flags) {
  const Store store = TRY(OpenExistingStore(context));
  const std::vector<RunRecord> runs = TRY(store.ListRuns(flags.limit));
  context.console.PrintJson(RunsObject(runs));
  context.console.Print(runs.empty() ? "no runs yet\n" : RunsText(context.console.out, runs));
  return kExitGood;
}

std::string ReusedKey(const std::string& run) { return "reused-calls/" + run; }

Result<std::size_t> ReusedCalls(const Store& store, const std::string& run) {
  const std::optional<std::string> kept = TRY(store.GetFigure(ReusedKey(run)));
  return kept ? std::strtoull(kept->c_str(), nullptr, 10) : 0;
}

}  // namespace

Result<Store> OpenExistingStore(const Context& context) {
  std::error_code ignored;
  if (!std::filesystem::exists(context.home / "pragma.db", ignored)) {
    return Fail(ErrorKind::kUsage, "there are no runs in " + context.home.string() +
                                       "; name the folder that has them with --home");
  }
  return Store::Open(context.home);
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

void AddRuns(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(app, registry, "runs", "list the runs kept here", "pragma runs");
  const auto flags = std::make_shared<RunsFlags>();
  command.add_option("--limit", flags->limit, "how many, newest first (default: 20)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  registry.actions[&command] = [flags](const Context& context) { return Runs(context, *flags); };
}

}  // namespace pragma
