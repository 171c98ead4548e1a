// pragma runs, pragma show: what the store knows.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/evidence_keeping.h"
#include "cli/recorded_run.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "report/figures.h"
#include "report/json_text.h"
#include "report/run_text.h"
#include "report/table.h"
#include "store/store.h"

namespace pragma {
namespace {

struct RunsFlags {
  int limit = 20;
};

struct ShowFlags {
  std::string run = "last";
  int node = 0;
};

Result<int> Runs(const Context& context, const RunsFlags& flags) {
  const Store store = TRY(OpenExistingStore(context));
  const std::vector<RunRecord> runs = TRY(store.ListRuns(flags.limit));
  context.console.PrintJson(RunsObject(runs));
  context.console.Print(runs.empty() ? "no runs yet\n" : RunsText(context.console.out, runs));
  return kExitGood;
}

std::string HeadText(const Terminal& terminal, const RecordedRun& recorded) {
  const RunRecord& run = recorded.run;
  Spent spent;
  for (const Trial& trial : recorded.tree.trials()) spent += trial.spent;
  std::vector<std::pair<std::string, std::string>> facts{
      {"run", run.id},
      {"task", SafeLine(run.task_name)},
      {"strategy", SafeLine(run.strategy)},
      {"state", run.state + (run.stopped.empty() ? "" : ": " + run.stopped)},
      {"started", FormatUtc(run.created_ms)},
      {"spent", FormatSpent(spent)}};
  if (const std::string bundle = BestBundle(recorded.bundles, recorded.tree); !bundle.empty())
    facts.emplace_back("evidence", EvidenceText(bundle));
  return RenderFacts(terminal, facts);
}

// One trial in full: advice, source, verdict.
std::string TrialText(const Trial& trial, const BundleNames& bundles) {
  std::string text = TrialLine(trial, trial.node) + "\n";
  if (const auto bundle = bundles.find(trial.node); bundle != bundles.end())
    text += "evidence: " + EvidenceText(bundle->second) + "\n";
  if (trial.advice) {
    text += "\nadvice: " + SafeText(trial.advice->change) + "\n";
    if (!trial.advice->evidence.empty())
      text += "because: " + SafeText(trial.advice->evidence) + "\n";
  }
  if (!trial.evaluation.reason.empty()) text += "\n" + SafeText(trial.evaluation.reason) + "\n";
  if (trial.candidate) {
    text += fmt::format("\nflags: {}\n\n{}\n", SafeLine(Join(trial.candidate->flags, " ")),
                        SafeText(trial.candidate->source()));
  }
  return text;
}

Result<int> Show(const Context& context, const ShowFlags& flags) {
  const Store store = TRY(OpenExistingStore(context));
  const RecordedRun recorded = TRY(LoadRecordedRun(store, flags.run));
  if (flags.node < 0 || flags.node > static_cast<int>(recorded.tree.size())) {
    return Fail(ErrorKind::kUsage, fmt::format("the run has no node {}; its nodes are 1 to {}",
                                               flags.node, recorded.tree.size()));
  }
  context.console.PrintJson(
      ShowObject(recorded.run, recorded.tree, recorded.calls, recorded.bundles));
  const Terminal& out = context.console.out;
  context.console.Print(flags.node > 0
                            ? TrialText(recorded.tree.at(flags.node), recorded.bundles)
                            : HeadText(out, recorded) + "\n" + TrialsText(out, recorded.tree));
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
  recorded.calls.asked = TRY(store.Calls(recorded.run.id)).size();
  recorded.calls.reused = TRY(ReusedCalls(store, recorded.run.id));
  recorded.bundles = TRY(BundlesOf(store, recorded.run.id, recorded.tree));
  return recorded;
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

void AddShow(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "show", "show the attempts of a run", "pragma show last --node 3");
  const auto flags = std::make_shared<ShowFlags>();
  command.add_option("RUN", flags->run, "run id, its beginning, or 'last' (default)");
  command.add_option("--node", flags->node, "show this attempt in full, with its source")
      ->type_name("N");
  registry.actions[&command] = [flags](const Context& context) { return Show(context, *flags); };
}

}  // namespace pragma
