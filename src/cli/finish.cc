#include "cli/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/evidence_keeping.h"
#include "app/exporting.h"
#include "app/islands.h"
#include "app/search_run.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "core/candidate.h"
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

// ModelNew is built and run in several processes that import torch.
constexpr Seconds kLeastForCheck{10};

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
  // The best so far is shown, but the run is not what was asked for.
  if (outcome.session.failure && outcome.session.stopped == StopReason::kService)
    return ExitCodeOf(outcome.session.failure->kind);
  if (outcome.session.stopped == StopReason::kNoCode) return kExitTrouble;
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

namespace {

// BestFiles: the files of the best so far in the folder that the user named. They are written as
// soon as a candidate is the best, and replaced where it turns out not to be.
class BestFiles final {
 public:
  BestFiles(const Context& context, const Workbench& bench, const TaskBench& task, std::string out)
      : context_(context), bench_(bench), task_(task), out_(std::move(out)) {}

  void Write(const Trial& trial) {
    Result<Exported> written = WriteUnchecked(context_.app, bench_, task_, *trial.candidate, out_);
    if (!written) {
      Log(LogLevel::kWarning, "the best is not in " + out_ + ": " + written.error().message);
      return;
    }
    files_ = std::move(written->files);
    node_ = trial.node;
  }

  void Follow(const SearchTree& tree) {
    const Trial* best = tree.best();
    if (best != nullptr && best->node != node_) Write(*best);
    if (best != nullptr || node_ == 0) return;
    std::error_code ignored;
    for (const std::string& file : files_) std::filesystem::remove(file, ignored);
    node_ = 0;
  }

 private:
  const Context& context_;
  const Workbench& bench_;
  const TaskBench& task_;
  std::string out_;
  std::vector<std::string> files_;
  int node_ = 0;  // of the trial whose files are there; 0: none
};

// What is known of ModelNew from the evaluation: it was judged itself.
bool AgreesAlready(const Candidate& candidate, const Evaluation& judged) {
  const auto agrees = [](const Check& check) {
    return check.name == "call" && check.verdict == CheckVerdict::kPass;
  };
  return candidate.language == Language::kPython || std::ranges::any_of(judged.checks, agrees);
}

Result<ExportReport> Export(const Context& context, const Workbench& bench, TaskBench& task,
                            const SearchPlan& plan, const SearchOutcome& outcome,
                            const std::string& out) {
  const Candidate& best = *outcome.session.tree.best()->candidate;
  const bool known = AgreesAlready(best, *ReportedBest(outcome));
  if (!known && plan.deadline.Left() >= kLeastForCheck) {
    Result<ExportReport> report = ExportAndCheck(context.app, bench, task, best, out);
    if (report || !TimeIsUp()) return report;
  }
  const Exported exported = TRY(WriteUnchecked(context.app, bench, task, best, out));
  ExportReport report{.files = exported.files, .complaint = exported.refusal};
  if (exported.model_new.empty()) return report;
  report.checked = known;
  report.untried = !known;
  if (!known)
    report.complaint = "not run: there was no time; pragma export " + plan.run.id + " runs it";
  return report;
}

}  // namespace

SearchObserver KeepingBest(SearchObserver observer, const Context& context, const Workbench& bench,
                           const TaskBench& task, const std::string& out) {
  if (out.empty()) return observer;
  const auto files = std::make_shared<BestFiles>(context, bench, task, out);
  observer.on_best = [files](const Trial& trial) { files->Write(trial); };
  observer.on_trial = [shown = std::move(observer.on_trial), files](const Trial& trial,
                                                                    const SearchTree& tree) {
    shown(trial, tree);
    files->Follow(tree);
  };
  return observer;
}

Result<int> FinishSearch(const Context& context, const Workbench& bench, TaskBench& task,
                         const SearchPlan& plan, const SearchOutcome& outcome,
                         const std::string& out, const IslandsOutcome* islands) {
  const Trial* best = outcome.session.tree.best();
  const bool interrupted = outcome.session.stopped == StopReason::kInterrupted;
  std::optional<ExportReport> exported;
  if (best != nullptr && !out.empty() && !interrupted) {
    exported = TRY(Export(context, bench, task, plan, outcome, out));
  }
  OptimizeSummary summary{.run = plan.run.id,
                          .attempts = outcome.session.tree.size(),
                          .stopped = outcome.session.stopped,
                          .why = outcome.session.why,
                          .spent = outcome.session.spent,
                          .left_out = outcome.left_out};
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
  if (!outcome.left_out.empty())
    context.console.Note("no time for " + Join(outcome.left_out, ", nor for "));
  if (!outcome.session.why.empty()) Log(LogLevel::kError, outcome.session.why);
  if (interrupted) context.console.Note("stopped; to continue: pragma resume " + plan.run.id);
  return ExitOf(outcome);
}

}  // namespace pragma
