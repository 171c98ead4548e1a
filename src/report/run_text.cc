#include "report/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "core/advice.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"
#include "report/figures.h"
#include "report/table.h"
#include "report/terminal.h"
#include "store/store.h"

namespace pragma {
namespace {

// What the attempt was about: the advice, or else why it failed.
std::string Note(const Trial& trial) {
  if (!trial.evaluation.passed() && !trial.evaluation.reason.empty()) {
    return SafeLine(SplitLines(trial.evaluation.reason).front());
  }
  if (!trial.advice) return "";
  const std::string change = SafeLine(trial.advice->change);
  return trial.advice->bottleneck.empty() ? change
                                          : SafeLine(trial.advice->bottleneck) + ": " + change;
}

std::string StateOf(const RunRecord& run) {
  return run.state == "finished" && !run.stopped.empty() ? "finished (" + run.stopped + ")"
                                                         : run.state;
}

}  // namespace

std::string TrialsText(const Terminal& terminal, const SearchTree& tree) {
  Table table({{.title = "node", .align = Align::kRight},
               {.title = "from", .align = Align::kRight},
               {.title = "role"},
               {.title = "status"},
               {.title = "vs eager [95 %]", .align = Align::kRight},
               {.title = "tokens", .align = Align::kRight},
               {.title = "what", .shrinks = true}});
  const Trial* best = tree.best();
  for (const Trial& trial : tree.trials()) {
    const bool is_best = best == &trial;
    const std::string star = is_best ? (terminal.unicode ? "★ " : "* ") : "";
    table.Add(
        {{star + std::to_string(trial.node), is_best ? Style::kBold : Style::kPlain},
         {trial.parent == 0 ? "-" : std::to_string(trial.parent)},
         {std::string(RoleName(trial.role))},
         {std::string(StatusName(trial.evaluation.status)), StatusStyle(trial.evaluation.status)},
         {FormatSpeedup(trial.evaluation.speedup_eager),
          SpeedupStyle(trial.evaluation.speedup_eager)},
         {trial.spent.tokens() == 0 ? "-" : FormatCount(trial.spent.tokens())},
         {Note(trial), Style::kDim}});
  }
  return table.Render(terminal);
}

std::string RunsText(const Terminal& terminal, const std::vector<RunRecord>& runs) {
  Table table({{.title = "run"},
               {.title = "started (UTC)"},
               {.title = "task", .shrinks = true},
               {.title = "strategy"},
               {.title = "state"}});
  for (const RunRecord& run : runs) {
    table.Add({{run.id},
               {FormatUtc(run.created_ms)},
               {SafeLine(run.task_name)},
               {SafeLine(run.strategy)},
               {StateOf(run), run.state == "finished" ? Style::kPlain : Style::kWarn}});
  }
  return table.Render(terminal);
}

std::string BottleneckOf(const Trial& trial) {
  if (!trial.profile || trial.profile->diagnosis.empty()) return "";
  return trial.profile->diagnosis.front().bottleneck;
}

std::string TrialLine(const Trial& trial, int attempts) {
  std::string line = fmt::format("attempt {}/{}: {}", trial.node, std::max(attempts, trial.node),
                                 StatusName(trial.evaluation.status));
  if (trial.evaluation.speedup_eager) {
    line += fmt::format(", {} against eager", FormatSpeedup(trial.evaluation.speedup_eager));
  }
  if (trial.best) line += ", the best so far";
  if (!trial.evaluation.passed() && !trial.evaluation.reason.empty()) {
    line += ": " + SafeLine(SplitLines(trial.evaluation.reason).front());
  }
  return line;
}

}  // namespace pragma
