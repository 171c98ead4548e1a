// pragma optimize searches for a faster kernel for one task.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/evaluation_request.h"
#include "app/islands.h"
#include "app/new_run.h"
#include "app/search_run.h"
#include "app/seeds.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/finish.h"
#include "cli/judging_flags.h"
#include "cli/search_flags.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "report/islands_text.h"
#include "report/json_text.h"
#include "report/phase_line.h"
#include "report/search_progress.h"
#include "search/settings.h"

namespace pragma {
namespace {

struct OptimizeFlags {
  std::string task;
  std::string out;
  int jobs = 1;
  bool no_compile_baseline = false;
  bool no_call = false;
  bool no_lint = false;
  SearchWish search;
  JudgingFlags judging;
};

// Optimises the islands of a task that the expert cannot write whole.
Result<IslandsOutcome> SearchIslands(const Context& context, const OptimizeFlags& flags,
                                     Workbench& bench, TaskBench& task, const SearchChoice& choice,
                                     const JudgingOptions& judging) {
  std::unique_ptr<SearchProgress> progress;
  const IslandsObserver observer{
      .on_island =
          [&](const IslandWork& island, std::size_t number, std::size_t all) {
            progress.reset();
            context.console.Note(fmt::format("island {}/{}: {}, {} operators, {:.0f} % of the time",
                                             number + 1, all, island.name,
                                             island.island.nodes.size(), 100 * island.share));
            progress =
                std::make_unique<SearchProgress>(context.console.err, choice.budget.attempts);
          },
      .search = {.on_phase = [&](int attempt,
                                 std::string_view phase) { progress->OnPhase(attempt, phase); },
                 .on_trial = [&](const Trial& trial,
                                 const SearchTree& tree) { progress->OnTrial(trial, tree); }}};
  return OptimizeIslands(context.app, bench, task,
                         {.choice = choice, .judging = judging, .lint = !flags.no_lint}, observer);
}

// Tells why no part of the task was written.
Result<int> NothingWritten(const Context& context, const IslandsOutcome& islands) {
  context.console.Print(IslandsText(context.console.out, RowsOf(islands, {})));
  context.console.PrintJson(OptimizeObject({.islands = RowsOf(islands, {})}));
  context.console.Note(islands.refusal + "; a language model may write it: --model SPEC");
  return kExitRejected;
}

Result<int> Optimize(const Context& context, const OptimizeFlags& flags) {
  TRY(CheckTaskFile(flags.task));
  SearchChoice choice = TRY(ChooseSearch(flags.search, context.app));
  choice.jobs = flags.jobs;
  TRY(CheckModels(choice, context.app));
  JudgingFlags judging_flags = flags.judging;
  TRY(judging_flags.ReadShapes());
  const JudgingOptions judging = judging_flags.Over(context.app.settings);
  TRY(CheckTarget(choice, judging));
  PhaseLine line(context.console.err);
  line.Show("starting the reference");
  const auto bench =
      TRY(Workbench::Create(context.app, WorkbenchFor(judging, flags.judging.sandbox())));
  TRY(CheckDevice(*bench, judging.language));
  const auto task = TRY(TaskBench::Open(*bench, flags.task, {.judging = judging},
                                        MeasureWith(!flags.no_compile_baseline)));
  TRY(CheckSearchable(task->task()));
  if (!flags.no_lint) {
    TRY(task->EnsureLint([&line](std::string_view phase) { line.Show(phase); }));
  }
  line.Clear();
  SearchPlan plan{.settings = NewRunSettings(choice, judging, *bench, *task),
                  .budget = choice.budget,
                  .compile_baseline = !flags.no_compile_baseline,
                  .retune = choice.tune.again,
                  .call = !flags.no_call};
  std::optional<IslandsOutcome> islands;
  if (NeedsIslands(choice, judging, task->task())) {
    islands = TRY(SearchIslands(context, flags, *bench, *task, choice, judging));
    if (islands->seeds.empty()) return NothingWritten(context, *islands);
    SearchSeedsOnly(*islands, plan);
  }
  TRY(AddEarlierKernels(bench->store(), task->task(), plan.settings));
  plan.run = TRY(
      StartRun(bench->store(), task->task(), std::filesystem::absolute(flags.task), plan.settings));
  context.console.Note("run " + plan.run.id + ": " + task->task().name + ", " + choice.preset.name +
                       ", " + choice.coder_model);
  SearchProgress progress(context.console.err, plan.budget.attempts);
  const SearchOutcome outcome =
      TRY(RunSearch(context.app, *bench, *task, plan, ObserverOf(progress)));
  progress.Stop();
  return FinishSearch(context, *bench, *task, plan, outcome, flags.out,
                      islands ? &*islands : nullptr);
}

}  // namespace

void AddOptimize(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "optimize", "find a faster kernel for a PyTorch module",
                 "pragma optimize model.py --model anthropic:NAME --out fast/");
  const auto flags = std::make_shared<OptimizeFlags>();
  command.add_option("TASK", flags->task, "PyTorch file in KernelBench's format")->required();
  command.add_option("--out", flags->out, "export the best kernel into DIR")->type_name("DIR");
  command.add_flag("--no-compile-baseline", flags->no_compile_baseline,
                   "do not measure torch.compile");
  command.add_flag("--no-call", flags->no_call,
                   "do not measure the call of ModelNew for the final best");
  command.add_flag("--no-lint", flags->no_lint,
                   "skip the check that the task can distinguish a wrong kernel (pragma lint)");
  AddSearchFlags(command, flags->search);
  command
      .add_option("--jobs", flags->jobs,
                  "concurrent attempts: model calls and builds overlap, timing does not")
      ->type_name("N")
      ->check(CLI::Range(1, 64))
      ->group("Search");
  flags->judging.AddTo(command);
  flags->judging.AddShapesTo(command);
  flags->judging.AddTargetTo(command);
  registry.actions[&command] = [flags](const Context& context) {
    return Optimize(context, *flags);
  };
}

}  // namespace pragma
