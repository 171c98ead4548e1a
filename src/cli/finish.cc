#include "cli/finish.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "app/evidence_keeping.h"
#include "app/exporting.h"
#include "app/search_run.h"
#include "app/workbench.h"
#include "base/result.h"
#include "cli/command.h"
#include "core/enum_names.h"
#include "core/evaluation.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "report/evaluation_text.h"
#include "report/figures.h"
#include "report/json_text.h"
#include "report/run_text.h"

namespace pragma {
namespace {

std::string SummaryLine(const SearchPlan& plan, const SearchOutcome& outcome) {
  const std::size_t attempts = outcome.session.tree.size();
  return fmt::format("run {}: {} attempt{}, stopped by {}, {}\n", plan.run.id, attempts,
                     attempts == 1 ? "" : "s", EnumName(outcome.session.stopped),
                     FormatSpent(outcome.session.spent));
}

std::string EvidenceLine(const SearchOutcome& outcome) {
  return outcome.bundle.empty() ? "" : "evidence: " + EvidenceText(outcome.bundle) + "\n";
}

std::string HowMeasured(const SearchPlan& plan, const SearchOutcome& outcome) {
  if (!outcome.final_best) return "as measured in the search";
  return ChosenFromSeveral(plan) ? "measured again in fresh processes" : "the only one";
}

std::string BestText(const Context& context, const TaskBench& task, const SearchPlan& plan,
                     const SearchOutcome& outcome) {
  const Trial* best = outcome.session.tree.best();
  if (best == nullptr) return "No attempt passed.\n";
  const std::string title =
      fmt::format("Best: attempt {}, {}", best->node, HowMeasured(plan, outcome));
  const bool partly = !ReportedBest(outcome)->partly_checked.empty();
  return title + (partly ? ", not on every battery: there was no time" : "") + "\n" +
         EvaluationText(context.console.out, task.task(), *best->candidate, *ReportedBest(outcome));
}

int ExitOf(const SearchOutcome& outcome) {
  if (outcome.session.stopped == StopReason::kInterrupted) return kExitInterrupted;
  const Evaluation* best = ReportedBest(outcome);
  return best != nullptr && best->passed() ? kExitGood : kExitRejected;
}

}  // namespace

Result<int> FinishSearch(const Context& context, const Workbench& bench, TaskBench& task,
                         const SearchPlan& plan, const SearchOutcome& outcome,
                         const std::string& out) {
  const Trial* best = outcome.session.tree.best();
  const bool interrupted = outcome.session.stopped == StopReason::kInterrupted;
  std::optional<ExportReport> exported;
  if (best != nullptr && !out.empty() && !interrupted) {
    exported = TRY(ExportAndCheck(context.app, bench, task, *best->candidate, out));
  }
  OptimizeSummary summary{.run = plan.run.id,
                          .attempts = outcome.session.tree.size(),
                          .stopped = outcome.session.stopped,
                          .spent = outcome.session.spent};
  if (best != nullptr) {
    summary.best = EvaluateObject(task.task(), *best->candidate, *ReportedBest(outcome));
  }
  if (exported) summary.exported = exported->files;
  summary.bundle = outcome.bundle;
  context.console.PrintJson(OptimizeObject(summary));
  const Terminal& terminal = context.console.out;
  context.console.Print("\n" + TrialsText(terminal, Summarize(outcome.session.tree.trials())) +
                        "\n" + BestText(context, task, plan, outcome) + "\n" +
                        SummaryLine(plan, outcome) + EvidenceLine(outcome) +
                        (exported ? ExportText(*exported) : ""));
  if (interrupted) context.console.Note("stopped; to continue: pragma resume " + plan.run.id);
  return ExitOf(outcome);
}

}  // namespace pragma
