#include "report/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "core/enum_names.h"
#include "core/status.h"
#include "core/stop_reason.h"
#include "core/trial_summary.h"
#include "report/figures.h"
#include "report/table.h"
#include "report/terminal.h"
#include "store/store.h"

namespace pragma {
namespace {

// Returns what the attempt was about: the advice or, if it failed, the reason.
std::string Note(const TrialSummary& trial) {
  const bool failed = !trial.passed() && !trial.reason.empty();
  return SafeLine(failed ? SplitLines(trial.reason).front() : trial.aim);
}

// A node at its position in the table of a tree.
struct Branch {
  int node = 0;
  std::size_t indent = 0;
};

// Lists each node after its parent. Children are indented only if their parent has several, so that
// a run without branches is a plain list.
std::vector<Branch> InTreeOrder(const std::vector<TrialSummary>& trials) {
  std::vector<std::vector<int>> children(trials.size() + 1);
  for (const TrialSummary& trial : trials)
    children[static_cast<std::size_t>(trial.parent)].push_back(trial.node);
  std::vector<Branch> order;
  std::vector<Branch> waiting{{.node = 0, .indent = 0}};
  while (!waiting.empty()) {
    const Branch at = waiting.back();
    waiting.pop_back();
    if (at.node > 0) order.push_back(at);
    const std::vector<int>& below = children[static_cast<std::size_t>(at.node)];
    const std::size_t indent = at.indent + (at.node > 0 && below.size() > 1 ? 1 : 0);
    for (const int node : below | std::views::reverse)
      waiting.push_back({.node = node, .indent = indent});
  }
  return order;
}

// The columns that are informative: if all attempts have one author, that column is omitted.
struct TreeColumns {
  bool author = false;
  bool against_best = false;
  bool bottleneck = false;
};

TreeColumns ColumnsFor(const std::vector<TrialSummary>& trials) {
  TreeColumns columns;
  for (const TrialSummary& trial : trials) {
    columns.author = columns.author || trial.author != trials.front().author;
    columns.against_best = columns.against_best || trial.speedup_best.has_value();
    columns.bottleneck = columns.bottleneck || !trial.bottleneck.empty();
  }
  return columns;
}

std::vector<Column> HeadOf(const TreeColumns& shown) {
  std::vector<Column> head{{.title = "node"}, {.title = "from", .align = Align::kRight}};
  head.push_back({.title = "role"});
  if (shown.author) head.push_back({.title = "author", .shrinks = true});
  head.push_back({.title = "status"});
  head.push_back({.title = "vs eager [95 %]", .align = Align::kRight});
  if (shown.against_best) head.push_back({.title = "vs best then [95 %]", .align = Align::kRight});
  if (shown.bottleneck) head.push_back({.title = "bottleneck"});
  head.push_back({.title = "tokens", .align = Align::kRight});
  head.push_back({.title = "what", .shrinks = true});
  return head;
}

// Returns the comparison that decided whether the trial became the best, short enough for a column.
std::string DecidedBy(const TrialSummary& trial) {
  if (!trial.speedup_best) return trial.best ? "the first" : "-";
  return FormatSpeedup(trial.speedup_best) + (trial.best ? ", better" : ", not better");
}

std::string_view Noisy(const TrialSummary& trial) { return trial.noisy ? " (noisy)" : ""; }

std::vector<Cell> RowOf(const Terminal& terminal, const TrialSummary& trial, bool best,
                        std::size_t indent, const TreeColumns& shown) {
  const std::string star = best ? (terminal.unicode ? " ★" : " *") : "";
  const std::string node = std::string(2 * indent, ' ') + std::to_string(trial.node) + star;
  std::vector<Cell> row{{node, best ? Style::kBold : Style::kPlain},
                        {trial.parent == 0 ? "-" : std::to_string(trial.parent)},
                        {std::string(RoleName(trial.role))}};
  if (shown.author) row.push_back({SafeLine(trial.author)});
  row.push_back({std::string(StatusName(trial.status)), StatusStyle(trial.status)});
  row.push_back({FormatSpeedup(trial.speedup_eager) + std::string(Noisy(trial)),
                 trial.noisy ? Style::kWarn : SpeedupStyle(trial.speedup_eager)});
  if (shown.against_best) row.push_back({DecidedBy(trial)});
  if (shown.bottleneck) row.push_back({SafeLine(trial.bottleneck)});
  row.push_back({trial.spent.tokens() == 0 ? "-" : FormatCount(trial.spent.tokens())});
  row.push_back({Note(trial), Style::kDim});
  return row;
}

std::string StateOf(const RunRecord& run) {
  return run.state == "finished" && run.stopped != StopReason::kNone
             ? "finished (" + EnumName(run.stopped) + ")"
             : run.state;
}

}  // namespace

std::string TrialsText(const Terminal& terminal, const std::vector<TrialSummary>& trials) {
  const TreeColumns shown = ColumnsFor(trials);
  const TrialSummary* best = BestOf(trials);
  Table table(HeadOf(shown));
  for (const Branch& branch : InTreeOrder(trials)) {
    const TrialSummary& trial = trials.at(static_cast<std::size_t>(branch.node - 1));
    table.Add(RowOf(terminal, trial, &trial == best, branch.indent, shown));
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

std::string AgainstBest(const TrialSummary& trial) {
  if (!trial.speedup_best) return "";
  std::string decision = trial.best ? "better" : "not better";
  // Such a kernel never replaces one that does not pack (search/stopping.h).
  if (!trial.best && trial.prepacked && trial.speedup_best->low > 1)
    decision = "not counted as better, since it packs its parameters first";
  return fmt::format("against the best: {}, {}", FormatSpeedup(trial.speedup_best), decision);
}

std::string TrialLine(const TrialSummary& trial, int attempts) {
  std::string line = fmt::format("attempt {}/{}: {}", trial.node, std::max(attempts, trial.node),
                                 StatusName(trial.status));
  if (trial.speedup_eager) {
    line += fmt::format(", {}{} against eager", FormatSpeedup(trial.speedup_eager), Noisy(trial));
  }
  if (const std::string decided = AgainstBest(trial); !decided.empty()) line += ", " + decided;
  if (trial.best) line += ", the best so far";
  if (!trial.passed() && !trial.reason.empty()) {
    line += ": " + SafeLine(SplitLines(trial.reason).front());
  }
  return line;
}

}  // namespace pragma
