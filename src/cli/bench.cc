// pragma bench: optimize every task of a suite with every strategy. What has ended before is kept.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "bench/loop.h"
#include "bench/suite.h"
#include "cli/bench_report.h"
#include "cli/command.h"
#include "cli/evidence_keeping.h"
#include "cli/recorded_run.h"
#include "cli/search_flags.h"
#include "cli/search_run.h"
#include "cli/verify_flags.h"
#include "cli/workbench.h"
#include "core/json.h"
#include "core/task.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {
namespace {

struct BenchFlags {
  std::string path;
  int level = 0;
  std::string tasks;
  std::string strategies;
  bool list = false;
  bool no_compile_baseline = false;
  bool no_dropin = false;
  SearchFlags search;
  VerifyFlags verify;
};

// Runs one cell on a workbench, or finds that the store has it.
class CellRunner final {
 public:
  CellRunner(const Context& context, const BenchFlags& flags, const VerifyFlags& verify,
             Workbench& bench)
      : context_(context), flags_(flags), verify_(verify), bench_(bench) {}
  Result<BenchRow> Run(const BenchCell& cell);

 private:
  [[nodiscard]] Result<SearchChoice> Choose(const BenchCell& cell) const;
  [[nodiscard]] Result<std::string> KeyOf(const BenchCell& cell, const SearchChoice& choice) const;
  [[nodiscard]] Result<std::optional<RunRecord>> KnownRun(const std::string& key);
  [[nodiscard]] Result<BenchRow> Kept(const BenchCell& cell, const RunRecord& run);
  [[nodiscard]] Result<BenchRow> Search(const BenchCell& cell, const SearchChoice& choice,
                                        const std::optional<RunRecord>& begun,
                                        const std::string& key);

  const Context& context_;
  const BenchFlags& flags_;
  const VerifyFlags& verify_;
  Workbench& bench_;
};

Result<SearchChoice> CellRunner::Choose(const BenchCell& cell) const {
  SearchFlags search = flags_.search;
  search.strategy = cell.strategy;
  return ChooseSearch(search, context_);
}

// Two cells are the same when everything that shapes their runs is.
Result<std::string> CellRunner::KeyOf(const BenchCell& cell, const SearchChoice& choice) const {
  const Result<std::string> source = ReadFile(cell.task.path);
  if (!source) return Fail(ErrorKind::kTask, source.error().message);
  RunSettings settings;
  settings.preset = choice.preset;
  settings.budget = choice.budget;
  settings.conductor_model = choice.conductor_model;
  settings.coder_model = choice.coder_model;
  settings.advice_from_user = choice.advice;
  settings.prompt_bytes = choice.prompt_bytes;
  settings.machine = bench_.machine().fingerprint;
  settings.options = verify_.AsOptions();
  settings.options["threads"] = std::to_string(bench_.machine().threads);
  return "bench/" + Sha256Hex(Sha256Hex(*source) + ToJson(settings));
}

Result<std::optional<RunRecord>> CellRunner::KnownRun(const std::string& key) {
  const std::optional<std::string> id = TRY(bench_.store().GetFigure(key));
  if (!id) return std::nullopt;
  const auto name = nlohmann::json::parse(*id, nullptr, /*allow_exceptions=*/false);
  if (!name.is_string()) return std::nullopt;
  return TRY(bench_.store().FindRun(name.get<std::string>()));
}

Result<BenchRow> CellRunner::Kept(const BenchCell& cell, const RunRecord& run) {
  BenchRow row{.cell = cell, .run = run.id, .stopped = run.stopped, .kept = true};
  const RecordedRun recorded = TRY(LoadRecordedRun(bench_.store(), run.id));
  for (const Trial& trial : recorded.tree.trials()) row.spent += trial.spent;
  row.attempts = recorded.tree.size();
  row.bundle = BestBundle(recorded.bundles, recorded.tree);
  if (!run.final_json.empty()) row.best = TRY(EvaluationFromJson(run.final_json));
  return row;
}

Result<BenchRow> CellRunner::Search(const BenchCell& cell, const SearchChoice& choice,
                                    const std::optional<RunRecord>& begun, const std::string& key) {
  const auto task = TRY(TaskBench::Open(bench_, cell.task.path, verify_.options()));
  TRY(CheckSearchable(task->task()));
  TRY(task->EnsureLint({}));
  SearchPlan plan{.budget = choice.budget,
                  .compile_baseline = !flags_.no_compile_baseline,
                  .retune = choice.tune.again,
                  .drop_in = !flags_.no_dropin};
  if (begun) {
    plan.run = *begun;
    plan.settings = TRY(RunSettingsFromJson(begun->settings_json));
    if (begun->state != "running") TRY(bench_.store().ReopenRun(begun->id));
  } else {
    plan.settings = NewRunSettings(choice, verify_, bench_, *task);
    plan.run = TRY(StartRun(bench_.store(), task->task(), std::filesystem::absolute(cell.task.path),
                            plan.settings));
    TRY(bench_.store().PutFigure(key, nlohmann::json(plan.run.id).dump()));
  }
  const SearchOutcome outcome = TRY(RunSearch(context_, bench_, *task, plan));
  BenchRow row{.cell = cell, .run = plan.run.id};
  if (const Evaluation* best = ReportedBest(outcome)) row.best = *best;
  row.attempts = outcome.session.tree.size();
  row.stopped = outcome.session.stopped;
  row.spent = outcome.session.spent;
  row.bundle = outcome.bundle;
  return row;
}

Result<BenchRow> CellRunner::Run(const BenchCell& cell) {
  const SearchChoice choice = TRY(Choose(cell));
  const std::string key = TRY(KeyOf(cell, choice));
  const std::optional<RunRecord> known = TRY(KnownRun(key));
  if (known && known->state == "finished" && known->stopped != "interrupted")
    return Kept(cell, *known);
  context_.console.Note(cell.task.name + ", " + choice.preset.name);
  return Search(cell, choice, known, key);
}

Result<std::vector<std::string>> StrategiesOf(const BenchFlags& flags, const Context& context) {
  const std::string& named =
      flags.strategies.empty() ? context.settings.strategy : flags.strategies;
  std::vector<std::string> strategies;
  for (const std::string& name : Split(named.empty() ? "n-pragma" : named, ',')) {
    if (!Trim(name).empty()) strategies.emplace_back(Trim(name));
  }
  if (strategies.empty()) return Fail(ErrorKind::kUsage, "--strategy names no strategy");
  return strategies;
}

// Every choice is made once before anything starts, so that a typing error costs no time.
Result<void> CheckChoices(const BenchFlags& flags, const Context& context,
                          const std::vector<std::string>& strategies) {
  for (const std::string& strategy : strategies) {
    SearchFlags search = flags.search;
    search.strategy = strategy;
    const SearchChoice choice = TRY(ChooseSearch(search, context));
    TRY(CheckModels(choice, context));
  }
  return {};
}

Result<int> Bench(const Context& context, const BenchFlags& flags) {
  Selection selection{.path = flags.path, .level = flags.level};
  if (!flags.tasks.empty()) selection.tasks = TRY(ParseTaskNumbers(flags.tasks));
  const std::vector<SuiteTask> tasks = TRY(SelectTasks(selection));
  if (flags.list) {
    context.console.PrintJson(SuiteObject(tasks));
    context.console.Print(SuiteText(context.console.out, tasks));
    return kExitGood;
  }
  const std::vector<std::string> strategies = TRY(StrategiesOf(flags, context));
  TRY(CheckChoices(flags, context, strategies));
  const VerifyFlags verify = flags.verify.With(context.settings);
  const auto bench = TRY(Workbench::Create(context, verify.workbench_options()));
  CellRunner runner(context, flags, verify, *bench);
  const BenchResult result = TRY(RunBench(
      tasks, strategies, [&runner](const BenchCell& cell) { return runner.Run(cell); },
      [&context](const BenchRow& row) { context.console.Note(BenchLine(row)); }));
  context.console.PrintJson(BenchObject(result));
  context.console.Print(BenchText(context.console.out, result));
  return result.interrupted ? kExitInterrupted : kExitGood;
}

}  // namespace

void AddBench(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(app, registry, "bench", "optimize the tasks of a suite",
                                 "pragma bench KernelBench/ --level 1 --tasks 1-10 --strategy "
                                 "n-pragma,caesar --model openai:NAME");
  const auto flags = std::make_shared<BenchFlags>();
  command
      .add_option("PATH", flags->path, "KernelBench checkout, folder of tasks, list file, or task")
      ->required();
  command.add_option("--level", flags->level, "KernelBench's level")
      ->type_name("N")
      ->check(CLI::Range(1, 4));
  command.add_option("--tasks", flags->tasks, "numbers of the tasks: 1-10,12 (default: all)")
      ->type_name("LIST");
  command.add_flag("--list", flags->list, "only show which tasks are selected");
  command.add_flag("--no-compile-baseline", flags->no_compile_baseline,
                   "do not measure torch.compile");
  command.add_flag("--no-dropin", flags->no_dropin,
                   "do not measure ModelNew against Model for the final best");
  flags->search.AddTo(command);
  command.remove_option(command.get_option("--strategy"));
  command.add_option("--strategy", flags->strategies, "strategies, by comma (default: n-pragma)")
      ->type_name("A,B")
      ->group("Search");
  flags->verify.AddTo(command);
  registry.actions[&command] = [flags](const Context& context) { return Bench(context, *flags); };
}

}  // namespace pragma
