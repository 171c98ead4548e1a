#include "cli/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/evidence_keeping.h"
#include "app/exporting.h"
#include "app/islands.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/result.h"
#include "cli/command.h"
#include "core/enum_names.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/stop_reason.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "report/evaluation_text.h"
#include "report/figures.h"
#include "report/islands_text.h"
#include "report/json_text.h"
#include "report/run_text.h"
#include "search/session.h"

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

// Returns the islands that the best candidate contains, if it makes the whole faster.
std::vector<std::size_t> KeptBy(const SearchOutcome& outcome, const IslandsOutcome& islands) {
  const Trial* best = outcome.session.tree.best();
  const Evaluation* judged = ReportedBest(outcome);
  if (best == nullptr || judged == nullptr || !judged->speedup_eager) return {};
  const auto seed = static_cast<std::size_t>(best->node - 1);
  const bool faster = judged->speedup_eager->median > 1;
  return faster && seed < islands.members.size() ? islands.members[seed]
                                                 : std::vector<std::size_t>();
}

int ExitOf(const SearchOutcome& outcome) {
  if (outcome.session.stopped == StopReason::kInterrupted) return kExitInterrupted;
  const Evaluation* best = ReportedBest(outcome);
  return best != nullptr && best->passed() ? kExitGood : kExitRejected;
}

}  // namespace

IslandRows RowsOf(const IslandsOutcome& outcome, const std::vector<std::size_t>& kept) {
  IslandRows rows{.left = outcome.left};
  for (std::size_t i = 0; i < outcome.islands.size(); ++i) {
    const IslandWork& work = outcome.islands[i];
    const bool in_best = std::ranges::find(kept, i) != kept.end();
    rows.islands.push_back({.name = work.name,
                            .run = work.run,
                            .operators = work.island.nodes.size(),
                            .share = work.share,
                            .speedup = work.speedup,
                            .outcome = in_best                ? "kept"
                                       : work.outcome.empty() ? "does not make the whole faster"
                                                              : work.outcome});
  }
  return rows;
}

Result<int> FinishSearch(const Context& context, const Workbench& bench, TaskBench& task,
                         const SearchPlan& plan, const SearchOutcome& outcome,
                         const std::string& out, const IslandsOutcome* islands) {
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
  if (islands != nullptr) summary.islands = RowsOf(*islands, KeptBy(outcome, *islands));
  context.console.PrintJson(OptimizeObject(summary));
  const Terminal& terminal = context.console.out;
  const std::string parts = summary.islands ? IslandsText(terminal, *summary.islands) + "\n" : "";
  context.console.Print("\n" + parts +
                        TrialsText(terminal, Summarize(outcome.session.tree.trials())) + "\n" +
                        BestText(context, task, plan, outcome) + "\n" + SummaryLine(plan, outcome) +
                        EvidenceLine(outcome) + (exported ? ExportText(*exported) : ""));
  if (interrupted) context.console.Note("stopped; to continue: pragma resume " + plan.run.id);
  return ExitOf(outcome);
}

}  // namespace pragma
