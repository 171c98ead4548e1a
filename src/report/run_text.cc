#include "report/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ranges>
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

// A node where the table of a tree has it.
struct Branch {
  int node = 0;
  std::size_t indent = 0;
};

// Each node after its parent. Only children of a node that has several are indented, so that a run
// without branches is a plain list.
std::vector<Branch> InTreeOrder(const SearchTree& tree) {
  std::vector<std::vector<int>> children(tree.size() + 1);
  for (const Trial& trial : tree.trials())
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

// Columns that say something: one author of everything needs no column.
struct TreeColumns {
  bool author = false;
  bool bottleneck = false;
};

TreeColumns ColumnsFor(const SearchTree& tree) {
  TreeColumns columns;
  for (const Trial& trial : tree.trials()) {
    columns.author = columns.author || trial.author != tree.trials().front().author;
    columns.bottleneck = columns.bottleneck || !BottleneckOf(trial).empty();
  }
  return columns;
}

std::vector<Column> HeadOf(const TreeColumns& shown) {
  std::vector<Column> head{{.title = "node"}, {.title = "from", .align = Align::kRight}};
  head.push_back({.title = "role"});
  if (shown.author) head.push_back({.title = "author", .shrinks = true});
  head.push_back({.title = "status"});
  head.push_back({.title = "vs eager [95 %]", .align = Align::kRight});
  if (shown.bottleneck) head.push_back({.title = "bottleneck"});
  head.push_back({.title = "tokens", .align = Align::kRight});
  head.push_back({.title = "what", .shrinks = true});
  return head;
}

std::vector<Cell> RowOf(const Terminal& terminal, const SearchTree& tree, const Trial& trial,
                        std::size_t indent, const TreeColumns& shown) {
  const Evaluation& evaluation = trial.evaluation;
  const bool best = tree.best() == &trial;
  const std::string star = best ? (terminal.unicode ? " ★" : " *") : "";
  const std::string node = std::string(2 * indent, ' ') + std::to_string(trial.node) + star;
  std::vector<Cell> row{{node, best ? Style::kBold : Style::kPlain},
                        {trial.parent == 0 ? "-" : std::to_string(trial.parent)},
                        {std::string(RoleName(trial.role))}};
  if (shown.author) row.push_back({SafeLine(trial.author)});
  row.push_back({std::string(StatusName(evaluation.status)), StatusStyle(evaluation.status)});
  row.push_back({FormatSpeedup(evaluation.speedup_eager), SpeedupStyle(evaluation.speedup_eager)});
  if (shown.bottleneck) row.push_back({SafeLine(BottleneckOf(trial))});
  row.push_back({trial.spent.tokens() == 0 ? "-" : FormatCount(trial.spent.tokens())});
  row.push_back({Note(trial), Style::kDim});
  return row;
}

std::string StateOf(const RunRecord& run) {
  return run.state == "finished" && !run.stopped.empty() ? "finished (" + run.stopped + ")"
                                                         : run.state;
}

}  // namespace

std::string TrialsText(const Terminal& terminal, const SearchTree& tree) {
  const TreeColumns shown = ColumnsFor(tree);
  Table table(HeadOf(shown));
  for (const Branch& branch : InTreeOrder(tree))
    table.Add(RowOf(terminal, tree, tree.at(branch.node), branch.indent, shown));
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
