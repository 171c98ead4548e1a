// pragma resume continues a run that was interrupted, or gives a finished run more budget.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "app/new_run.h"
#include "app/recorded_run.h"
#include "app/recorded_task.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/deadline.h"
#include "base/result.h"
#include "cli/command.h"
#include "cli/finish.h"
#include "cli/judging_flags.h"
#include "cli/replaying.h"
#include "cli/search_flags.h"
#include "cli/time_limit.h"
#include "core/candidate.h"
#include "core/json.h"
#include "core/task.h"
#include "report/phase_line.h"
#include "search/budget.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {
namespace {

struct ResumeFlags {
  std::string run = "last";
  std::string out;
  bool no_compile_baseline = false;
  bool no_call = false;
  bool unsafe_no_sandbox = false;
  BudgetWish budget;
};

// A run's time counts over all its commands. The last one has a little in any case, to measure the
// best again.
Result<Deadline> ClockOf(const std::filesystem::path& home, const std::string& run,
                         const Budget& budget) {
  constexpr double kLeast = 5;
  if (budget.seconds <= 0) return Deadline();
  const Store store = TRY(OpenExistingStore(home));
  return StartClock(std::max(TRY(SecondsLeft(store, run, budget)), kLeast));
}

Result<int> ResumeSearch(const Context& context, const ResumeFlags& flags, const RunRecord& run,
                         const RunSettings& settings) {
  const Budget budget = TRY(flags.budget.Over(settings.budget));
  const Deadline deadline = TRY(ClockOf(context.app.home, run.id, budget));
  const Task recorded = TRY(TaskFromJson(run.task_json));
  const RecordedTask file = TRY(FindRecordedTask(recorded, run.task_path));
  // Checking and timing stay as they were when the run began, because figures of one run must be
  // comparable.
  JudgingOptions judging =
      JudgingFrom(JudgingTexts(settings.options.begin(), settings.options.end()));
  judging.language = settings.language;
  const SandboxMode sandbox =
      flags.unsafe_no_sandbox ? SandboxMode::kUnsafeNone : SandboxMode::kBest;
  const SearchPlan plan{.run = run,
                        .settings = settings,
                        .budget = budget,
                        .compile_baseline = !flags.no_compile_baseline,
                        .call = !flags.no_call,
                        .deadline = deadline};
  PhaseLine line(context.console.err);
  line.Show("starting the reference");
  const auto bench = TRY(Workbench::Create(context.app, WorkbenchFor(judging, sandbox)));
  TRY(CheckDevice(*bench, judging.language));
  const auto task =
      TRY(TaskBench::Open(*bench, file.path, {.judging = judging, .deadline = deadline},
                          MeasureWith(!flags.no_compile_baseline)));
  line.Clear();
  if (run.state != "running") TRY(bench->store().ReopenRun(run.id));
  SearchProgress progress(context.console.err, plan.budget.attempts);
  const SearchOutcome outcome =
      TRY(RunSearch(context.app, *bench, *task, plan,
                    KeepingBest(ObserverOf(progress), context, *bench, *task, flags.out)));
  progress.Stop();
  return FinishSearch(context, *bench, *task, plan, outcome, flags.out);
}

Result<int> Resume(const Context& context, const ResumeFlags& flags) {
  Store store = TRY(OpenExistingStore(context.app.home));
  const RunRecord run = TRY(store.FindRun(flags.run));
  const RunSettings settings = TRY(RunSettingsFromJson(run.settings_json));
  if (settings.recording.empty()) return ResumeSearch(context, flags, run, settings);
  return ResumeReplayed(context, store, run);
}

}  // namespace

void AddResume(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(app, registry, "resume", "continue a run that was stopped",
                                 "pragma resume last --attempts 30");
  const auto flags = std::make_shared<ResumeFlags>();
  command.add_option("RUN", flags->run, "run id, its beginning, or 'last' (default)");
  command.add_option("--out", flags->out, "export the best kernel into DIR")->type_name("DIR");
  command.add_flag("--no-compile-baseline", flags->no_compile_baseline,
                   "do not measure torch.compile");
  command.add_flag("--no-call", flags->no_call,
                   "do not measure the call of ModelNew for the final best");
  command.add_flag("--unsafe-no-sandbox", flags->unsafe_no_sandbox,
                   "run candidates without protection where bubblewrap does not work");
  AddBudgetFlags(command, flags->budget);
  registry.actions[&command] = [flags](const Context& context) { return Resume(context, *flags); };
}

}  // namespace pragma
