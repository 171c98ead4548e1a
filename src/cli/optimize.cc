// pragma optimize searches for a faster kernel for one task.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/agents.h"
#include "app/candidate_file.h"
#include "app/evaluation_request.h"
#include "app/islands.h"
#include "app/new_run.h"
#include "app/search_run.h"
#include "app/seeds.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/deadline.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/finish.h"
#include "cli/judging_flags.h"
#include "cli/search_flags.h"
#include "cli/time_limit.h"
#include "core/candidate.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "report/islands_text.h"
#include "report/json_text.h"
#include "report/phase_line.h"
#include "report/search_progress.h"
#include "search/seed_kernel.h"
#include "search/settings.h"

namespace pragma {
namespace {

struct OptimizeFlags {
  std::string task;
  std::string out;
  std::string start;  // the user's own kernel
  int jobs = 1;
  bool no_compile_baseline = false;
  bool no_call = false;
  bool no_lint = false;
  SearchWish search;
  JudgingFlags judging;
};

// Optimises the islands of a task that the expert cannot write whole.
Result<IslandsOutcome> SearchIslands(const Context& context, const IslandsWish& wish,
                                     Workbench& bench, TaskBench& task) {
  std::unique_ptr<SearchProgress> progress;
  const IslandsObserver observer{
      .on_island =
          [&](const IslandWork& island, std::size_t number, std::size_t all) {
            progress.reset();
            context.console.Note(fmt::format("island {}/{}: {}, {} operators, {:.0f} % of the time",
                                             number + 1, all, island.name,
                                             island.island.nodes.size(), 100 * island.share));
            progress = std::make_unique<SearchProgress>(context.console.err,
                                                        wish.part.choice.budget.attempts);
          },
      .search = {.on_phase = [&](int attempt,
                                 std::string_view phase) { progress->OnPhase(attempt, phase); },
                 .on_trial = [&](const Trial& trial,
                                 const SearchTree& tree) { progress->OnTrial(trial, tree); }}};
  return OptimizeIslands(context.app, bench, task, wish, observer);
}

// Tells why no part of the task was written.
Result<int> NothingWritten(const Context& context, const IslandsOutcome& islands) {
  context.console.Print(IslandsText(context.console.out, RowsOf(islands, {})));
  context.console.PrintJson(OptimizeObject({.islands = RowsOf(islands, {})}));
  context.console.Note(islands.refusal + "; a language model may write it: --model SPEC");
  return kExitRejected;
}

// The expert writes from the module's graph. A language model reads the module.
Result<void> CheckGraph(const Context& context, const SearchChoice& choice, const Task& task) {
  if (!task.graph.empty()) return {};
  if (IsExpert(choice.coder_model))
    return Fail(ErrorKind::kTask,
                task.name + ".py: the expert needs a graph of the module: " + task.export_error +
                    "; a language model may do without one: --model SPEC");
  context.console.Note("no graph of the module: " + task.export_error);
  return {};
}

// Returns the user's own kernel, with which the run begins.
Result<std::optional<SeedKernel>> StartOf(const OptimizeFlags& flags, Language language) {
  if (flags.start.empty()) return std::optional<SeedKernel>();
  Candidate candidate = TRY(LoadCandidate(flags.start, language));
  if (candidate.language != language) {
    return Fail(ErrorKind::kUsage,
                fmt::format("--start {}: it is written in {}, and this run writes {}; --target "
                            "chooses what a run writes",
                            flags.start, LanguageName(candidate.language), LanguageName(language)));
  }
  return std::optional(SeedKernel{std::move(candidate), flags.start});
}

Result<int> Optimize(const Context& context, const OptimizeFlags& flags, const SearchChoice& choice,
                     const Deadline& deadline) {
  TRY(CheckModels(choice, context.app));
  JudgingFlags judging_flags = flags.judging;
  TRY(judging_flags.ReadShapes());
  const JudgingOptions judging = judging_flags.Over(context.app.settings);
  TRY(CheckTarget(choice, judging));
  std::optional<SeedKernel> start = TRY(StartOf(flags, judging.language));
  PhaseLine line(context.console.err);
  line.Show("starting the reference");
  const auto bench =
      TRY(Workbench::Create(context.app, WorkbenchFor(judging, flags.judging.sandbox())));
  TRY(CheckDevice(*bench, judging.language));
  const auto task =
      TRY(TaskBench::Open(*bench, flags.task, {.judging = judging, .deadline = deadline},
                          MeasureWith(!flags.no_compile_baseline)));
  TRY(CheckSearchable(task->task()));
  TRY(CheckGraph(context, choice, task->task()));
  if (!flags.no_lint) {
    TRY(task->EnsureLint([&line](std::string_view phase) { line.Show(phase); }));
  }
  line.Clear();
  SearchPlan plan{.settings = NewRunSettings(choice, judging, *bench, *task),
                  .budget = choice.budget,
                  .compile_baseline = !flags.no_compile_baseline,
                  .retune = choice.tune.again,
                  .call = !flags.no_call,
                  .deadline = deadline};
  std::optional<IslandsOutcome> islands;
  if (!start && NeedsIslands(choice, judging, task->task())) {
    islands =
        TRY(SearchIslands(context,
                          {.part = {.choice = choice, .judging = judging, .lint = !flags.no_lint},
                           .deadline = deadline},
                          *bench, *task));
    if (islands->seeds.empty()) return NothingWritten(context, *islands);
    SearchSeedsOnly(*islands, plan);
  }
  TRY(AddEarlierKernels(bench->store(), task->task(), plan.settings));
  if (start) plan.settings.seeds.insert(plan.settings.seeds.begin(), std::move(*start));
  plan.run = TRY(
      StartRun(bench->store(), task->task(), std::filesystem::absolute(flags.task), plan.settings));
  context.console.Note("run " + plan.run.id + ": " + task->task().name + ", " + choice.preset.name +
                       ", " + choice.coder_model);
  SearchProgress progress(context.console.err, plan.budget.attempts);
  const SearchOutcome outcome =
      TRY(RunSearch(context.app, *bench, *task, plan,
                    KeepingBest(ObserverOf(progress), context, *bench, *task, flags.out)));
  progress.Stop();
  return FinishSearch(context, *bench, *task, plan, outcome, flags.out,
                      islands ? &*islands : nullptr);
}

// Optimises within the time that the user gave.
Result<int> OptimizeInTime(const Context& context, const OptimizeFlags& flags) {
  TRY(CheckTaskFile(flags.task));
  SearchChoice choice = TRY(ChooseSearch(flags.search, context.app));
  choice.jobs = flags.jobs;
  return RunInTime(context, choice.budget.seconds, [&](const Deadline& deadline) {
    return Optimize(context, flags, choice, deadline);
  });
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
      .add_option("--start", flags->start,
                  "begin with your own kernel: a .cpp or .cu file, judged before any other")
      ->type_name("FILE")
      ->group("Search");
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
    return OptimizeInTime(context, *flags);
  };
}

}  // namespace pragma
