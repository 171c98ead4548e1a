// pragma optimize searches for a faster kernel for one task.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "cli/evaluation_request.h"
#include "cli/finish.h"
#include "cli/new_run.h"
#include "cli/phase_line.h"
#include "cli/search_flags.h"
#include "cli/search_run.h"
#include "cli/seeds.h"
#include "cli/verify_flags.h"
#include "cli/workbench.h"
#include "search/settings.h"

namespace pragma {
namespace {

struct OptimizeFlags {
  std::string task;
  std::string out;
  int jobs = 1;
  bool no_compile_baseline = false;
  bool no_dropin = false;
  bool no_lint = false;
  SearchFlags search;
  VerifyFlags verify;
};

Result<int> Optimize(const Context& context, const OptimizeFlags& flags) {
  TRY(CheckTaskFile(flags.task));
  SearchChoice choice = TRY(ChooseSearch(flags.search, context));
  choice.jobs = flags.jobs;
  TRY(CheckModels(choice, context));
  VerifyFlags verify = flags.verify.With(context.settings);
  TRY(verify.ReadShapes());
  TRY(CheckTarget(choice, verify));
  PhaseLine line(context.console.err);
  line.Show("starting the reference");
  const auto bench = TRY(Workbench::Create(context, verify.workbench_options()));
  TRY(CheckDevice(*bench, verify.runs_on()));
  const auto task = TRY(TaskBench::Open(*bench, flags.task, verify.options(),
                                        MeasureWith(!flags.no_compile_baseline)));
  TRY(CheckSearchable(task->task()));
  if (!flags.no_lint) {
    TRY(task->EnsureLint([&line](std::string_view phase) { line.Show(phase); }));
  }
  line.Clear();
  SearchPlan plan{.settings = NewRunSettings(choice, verify, *bench, *task),
                  .budget = choice.budget,
                  .compile_baseline = !flags.no_compile_baseline,
                  .retune = choice.tune.again,
                  .drop_in = !flags.no_dropin};
  TRY(AddEarlierKernels(bench->store(), task->task(), plan.settings));
  plan.run = TRY(
      StartRun(bench->store(), task->task(), std::filesystem::absolute(flags.task), plan.settings));
  context.console.Note("run " + plan.run.id + ": " + task->task().name + ", " + choice.preset.name +
                       ", " + choice.coder_model);
  const SearchOutcome outcome = TRY(RunSearch(context, *bench, *task, plan));
  return FinishSearch(context, *bench, *task, plan, outcome, flags.out);
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
  command.add_flag("--no-dropin", flags->no_dropin,
                   "do not measure ModelNew against Model for the final best");
  command.add_flag("--no-lint", flags->no_lint,
                   "do not look first whether the task can tell a wrong kernel");
  flags->search.AddTo(command);
  command
      .add_option("--jobs", flags->jobs,
                  "attempts under way at once: model calls and builds overlap, timing does not")
      ->type_name("N")
      ->check(CLI::Range(1, 64))
      ->group("Search");
  flags->verify.AddTo(command);
  flags->verify.AddShapesTo(command);
  flags->verify.AddTargetTo(command);
  registry.actions[&command] = [flags](const Context& context) {
    return Optimize(context, *flags);
  };
}

}  // namespace pragma
