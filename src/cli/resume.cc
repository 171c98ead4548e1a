// pragma resume continues a run that was interrupted, or gives a finished run more budget.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/finish.h"
#include "cli/new_run.h"
#include "cli/phase_line.h"
#include "cli/recorded_run.h"
#include "cli/recorded_task.h"
#include "cli/replaying.h"
#include "cli/search_flags.h"
#include "cli/search_run.h"
#include "cli/verify_flags.h"
#include "cli/workbench.h"
#include "core/candidate.h"
#include "core/json.h"
#include "core/task.h"
#include "search/settings.h"
#include "store/store.h"

namespace pragma {
namespace {

struct ResumeFlags {
  std::string run = "last";
  std::string out;
  bool no_compile_baseline = false;
  bool no_dropin = false;
  bool unsafe_no_sandbox = false;
  BudgetFlags budget;
};

Result<int> ResumeSearch(const Context& context, const ResumeFlags& flags, const RunRecord& run,
                         const RunSettings& settings) {
  const Task recorded = TRY(TaskFromJson(run.task_json));
  const RecordedTask file = TRY(FindRecordedTask(recorded, run.task_path));
  // Checking and timing stay as they were when the run began, because figures of one run must be
  // comparable.
  VerifyFlags verify = VerifyFlags::FromOptions(settings.options);
  verify.unsafe_no_sandbox = flags.unsafe_no_sandbox;
  verify.target = TargetName(TargetOf(settings.language));
  const SearchPlan plan{.run = run,
                        .settings = settings,
                        .budget = TRY(flags.budget.Over(settings.budget)),
                        .compile_baseline = !flags.no_compile_baseline,
                        .drop_in = !flags.no_dropin};
  PhaseLine line(context.console.err);
  line.Show("starting the reference");
  const auto bench = TRY(Workbench::Create(context, verify.workbench_options()));
  TRY(CheckDevice(*bench, verify.runs_on()));
  const auto task = TRY(TaskBench::Open(*bench, file.path, verify.options(),
                                        MeasureWith(!flags.no_compile_baseline)));
  line.Clear();
  if (run.state != "running") TRY(bench->store().ReopenRun(run.id));
  const SearchOutcome outcome = TRY(RunSearch(context, *bench, *task, plan));
  return FinishSearch(context, *bench, *task, plan, outcome, flags.out);
}

Result<int> Resume(const Context& context, const ResumeFlags& flags) {
  Store store = TRY(OpenExistingStore(context));
  const RunRecord run = TRY(store.FindRun(flags.run));
  const RunSettings settings = TRY(RunSettingsFromJson(run.settings_json));
  if (settings.recording.empty()) return ResumeSearch(context, flags, run, settings);
  return ResumeReplayed(context, store, run);
}

}  // namespace

void AddResume(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(app, registry, "resume", "go on with a run that was stopped",
                                 "pragma resume last --attempts 30");
  const auto flags = std::make_shared<ResumeFlags>();
  command.add_option("RUN", flags->run, "run id, its beginning, or 'last' (default)");
  command.add_option("--out", flags->out, "export the best kernel into DIR")->type_name("DIR");
  command.add_flag("--no-compile-baseline", flags->no_compile_baseline,
                   "do not measure torch.compile");
  command.add_flag("--no-dropin", flags->no_dropin,
                   "do not measure ModelNew against Model for the final best");
  command.add_flag("--unsafe-no-sandbox", flags->unsafe_no_sandbox,
                   "run candidates without protection where bubblewrap does not work");
  flags->budget.AddTo(command);
  registry.actions[&command] = [flags](const Context& context) { return Resume(context, *flags); };
}

}  // namespace pragma
