#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/loop.h"
#include "bench/metrics.h"
#include "bench/row.h"
#include "core/enum_names.h"
#include "core/spent.h"
#include "core/status.h"
#include "core/stop_reason.h"
#include "core/timing.h"
#include "report/figures.h"
#include "report/table.h"
#include "report/terminal.h"
#include "verify/paper_timing.h"

namespace pragma {
namespace {

using Scores = std::vector<std::vector<Score>>;  // by arm

std::optional<Interval> EagerOf(const BenchRow& row) {
  return row.best ? row.best->speedup_eager : std::nullopt;
}

std::optional<Interval> CallOf(const BenchRow& row) {
  return row.best && row.best->call ? std::optional(row.best->call->kept.speedup) : std::nullopt;
}

std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string Ratio(const Means& means, double value) {
  return means.count == 0 ? "-" : fmt::format("{:.2f}x", value);
}

std::string Dash(const std::string& text) { return text.empty() ? "-" : text; }

Column Right(std::string title) { return {.title = std::move(title), .align = Align::kRight}; }

std::string PaperSpeedup(const BenchRow& row) {
  const std::optional<double> ratio =
      row.paper ? SpeedupByPaper(row.paper->eager, row.paper->candidate) : std::nullopt;
  return ratio ? fmt::format("{:.2f}x", *ratio) : "-";
}

std::string RowsText(const Terminal& terminal, const std::vector<BenchRow>& rows) {
  const bool models = std::ranges::any_of(
      rows, [&](const BenchRow& row) { return row.cell.model != rows.front().cell.model; });
  const bool repeats =
      std::ranges::any_of(rows, [](const BenchRow& row) { return row.cell.repeat > 1; });
  const bool called =
      std::ranges::any_of(rows, [](const BenchRow& row) { return CallOf(row).has_value(); });
  const bool paper =
      std::ranges::any_of(rows, [](const BenchRow& row) { return row.paper.has_value(); });
  std::vector<Column> columns{{.title = "task", .shrinks = true}, {.title = "strategy"}};
  if (models) columns.push_back({.title = "model", .shrinks = true});
  if (repeats) columns.push_back(Right("repeat"));
  columns.insert(columns.end(), {{.title = "lint"}, {.title = "result"}});
  if (called) columns.push_back(Right("call [95 %]"));
  columns.push_back(Right(called ? "kernel vs eager [95 %]" : "vs eager [95 %]"));
  if (paper) columns.push_back(Right("paper's"));
  columns.insert(columns.end(), {Right("tries"), Right("tokens"), Right("time")});
  Table table(columns);
  for (const BenchRow& row : rows) {
    std::vector<Cell> cells{{row.cell.task.name}, {row.cell.strategy}};
    if (models) cells.push_back({SafeLine(row.cell.model)});
    if (repeats) cells.push_back({std::to_string(row.cell.repeat)});
    cells.insert(cells.end(), {{Dash(row.lint), row.lint == "sound" ? Style::kPlain : Style::kWarn},
                               {StateOf(row), row.solved() ? Style::kGood : Style::kBad}});
    if (called) cells.push_back({FormatSpeedup(CallOf(row)), SpeedupStyle(CallOf(row))});
    cells.push_back({FormatSpeedup(EagerOf(row)), SpeedupStyle(EagerOf(row))});
    if (paper) cells.push_back({PaperSpeedup(row)});
    cells.insert(cells.end(), {{std::to_string(row.attempts)},
                               {row.spent.tokens() == 0 ? "-" : FormatCount(row.spent.tokens())},
                               {FormatElapsed(row.spent.seconds)}});
    table.Add(std::move(cells));
  }
  return table.Render(terminal);
}

std::string FastOneCompile(const Summary& summary) {
  constexpr std::size_t kOne = 3;  // index into kFastThresholds
  return summary.fast_compile ? Percent(summary.fast_compile->at(kOne)) : "-";
}

std::string SummaryTable(const Terminal& terminal, const BenchFrame& frame, const Scores& scores) {
  Table table({{.title = "strategy", .shrinks = true},
               Right("runs"),
               Right("success"),
               Right("call"),
               Right("fast_1"),
               Right("fast_1 compile"),
               Right("mean"),
               Right("geomean"),
               Right("median"),
               Right("geomean*"),
               Right("compiled"),
               Right("correct"),
               Right("tokens"),
               Right("cost")});
  for (std::size_t i = 0; i < frame.arms.size(); ++i) {
    const Summary summary = Summarise(scores[i]);
    table.Add({{SafeLine(frame.arms[i].name)},
               {std::to_string(summary.cells)},
               {Percent(summary.success)},
               {Ratio(summary.call, summary.call.geomean)},
               {Percent(FastP(scores[i], &Score::eager, 1))},
               {FastOneCompile(summary)},
               {Ratio(summary.eager, summary.eager.mean)},
               {Ratio(summary.eager, summary.eager.geomean)},
               {Ratio(summary.eager, summary.eager.median)},
               {Ratio(summary.eager_fallback, summary.eager_fallback.geomean)},
               {Percent(summary.attempts.compiled)},
               {Percent(summary.attempts.correct)},
               {FormatCount(summary.tokens)},
               {FormatMoney(summary.usd)}});
  }
  return table.Render(terminal);
}

std::string FastTable(const Terminal& terminal, const BenchFrame& frame, const Scores& scores) {
  std::vector<Column> columns{{.title = "strategy", .shrinks = true}, {.title = "against"}};
  for (const double threshold : kFastThresholds)
    columns.push_back(Right(fmt::format("fast_{:g}", threshold)));
  Table table(columns);
  const auto add = [&](const std::string& arm, const char* baseline, const auto& shares) {
    std::vector<Cell> cells{{arm}, {baseline}};
    for (const double share : shares) cells.push_back({Percent(share)});
    table.Add(std::move(cells));
  };
  for (std::size_t i = 0; i < frame.arms.size(); ++i) {
    const Summary summary = Summarise(scores[i]);
    add(SafeLine(frame.arms[i].name), "eager", summary.fast_eager);
    if (summary.fast_compile) add(SafeLine(frame.arms[i].name), "compile", *summary.fast_compile);
  }
  return table.Render(terminal);
}

// Formats success, speed-up and Fast_1 in the layout of the PRAGMA paper's Table I.
std::string PaperTable(const Terminal& terminal, const BenchFrame& frame, const Scores& scores) {
  Table table({{.title = "strategy", .shrinks = true},
               Right("success"),
               Right("mean"),
               Right("geomean"),
               Right("fast_1")});
  bool any = false;
  for (std::size_t i = 0; i < frame.arms.size(); ++i) {
    const Summary summary = Summarise(scores[i]);
    any = any || summary.paper.count > 0;
    table.Add({{SafeLine(frame.arms[i].name)},
               {Percent(summary.success)},
               {Ratio(summary.paper, summary.paper.mean)},
               {Ratio(summary.paper, summary.paper.geomean)},
               {Percent(summary.paper_fast_one)}});
  }
  if (!any) return "";
  return "\nBy the paper's protocol, against eager: 5 warm-ups, mean of 100 calls, no interval\n" +
         table.Render(terminal);
}

// Formats one line per category, with success and mean speed-up of each arm.
std::string CategoryTable(const Terminal& terminal, const BenchFrame& frame, const Scores& scores) {
  std::vector<Column> columns{{.title = "category"}, Right("tasks")};
  std::vector<std::map<std::string, Summary>> by_arm;
  std::map<std::string, std::size_t> tasks;
  for (std::size_t i = 0; i < frame.arms.size(); ++i) {
    columns.push_back(Right(SafeLine(frame.arms[i].name)));
    by_arm.push_back(SummariseCategories(scores[i]));
    for (const auto& [category, summary] : by_arm.back())
      tasks[category] = std::max(tasks[category], summary.tasks);
  }
  Table table(columns);
  for (const auto& [category, count] : tasks) {
    std::vector<Cell> cells{{category}, {std::to_string(count)}};
    for (std::map<std::string, Summary>& arm : by_arm) {
      const Summary& summary = arm[category];
      cells.push_back({Percent(summary.success) + "  " + Ratio(summary.eager, summary.eager.mean)});
    }
    table.Add(std::move(cells));
  }
  return table.Render(terminal);
}

std::string TablesOf(const Terminal& terminal, const BenchFrame& frame, const Scores& scores) {
  return SummaryTable(terminal, frame, scores) +
         "\nShare of runs with a kernel that much faster\n" + FastTable(terminal, frame, scores) +
         "\nBy category: success, mean speed-up of solved\n" +
         CategoryTable(terminal, frame, scores) + PaperTable(terminal, frame, scores);
}

std::string ComparisonLines(const BenchFrame& frame, const Scores& scores) {
  std::string text;
  for (std::size_t i = 1; i < frame.arms.size(); ++i) {
    const PairedComparison pair = ComparePaired(scores[0], scores[i]);
    if (!pair.fallback) continue;
    text += fmt::format(
        "{} against {}: {} over {} tasks with failures as 1 (ahead on {}, behind on {}); {} over "
        "the {} that both solved\n",
        SafeLine(frame.arms[0].name), SafeLine(frame.arms[i].name), FormatSpeedup(pair.fallback),
        pair.tasks, pair.first_ahead, pair.second_ahead, FormatSpeedup(pair.solved),
        pair.solved_by_both);
  }
  return text.empty() ? "" : "\n" + text;
}

std::string EndText(const BenchFrame& frame, const BenchResult& result) {
  std::string text = "\nbudget: " + frame.budget + "\n";
  Spent spent;
  for (const BenchRow& row : result.rows) spent += row.spent;
  text += "spent: " + FormatSpent(spent) + "\n";
  if (!result.not_begun.empty()) {
    text += fmt::format(
        "{} runs were not begun, the total budget is spent; they are in no table. "
        "Raise it and give the same command.\n",
        result.not_begun.size());
  }
  for (const std::string& folder : frame.kernelbench)
    text += "KernelBench's files: " + folder + "\n";
  if (result.interrupted) text += "Stopped by the user; the same command goes on from here.\n";
  return text;
}

}  // namespace

std::string CellName(const BenchCell& cell) {
  std::string name = cell.task.name + ", " + SafeLine(cell.arm);
  if (cell.repeat > 1) name += fmt::format(", repeat {}", cell.repeat);
  return name;
}

std::vector<std::vector<Score>> ScoresByArm(const BenchFrame& frame, const BenchResult& result) {
  Scores scores(frame.arms.size());
  for (const BenchRow& row : result.rows) {
    const auto arm = std::ranges::find(frame.arms, row.cell.arm, &BenchArm::name);
    if (arm != frame.arms.end())
      scores[static_cast<std::size_t>(arm - frame.arms.begin())].push_back(ScoreOf(row));
  }
  return scores;
}

std::string StateOf(const BenchRow& row) {
  if (!row.problem.empty()) return "task_error";
  if (row.stopped == StopReason::kInterrupted) return "interrupted";
  if (row.solved()) return "passed";
  if (!row.run.empty()) return "no kernel passed";
  return row.best ? std::string(StatusName(row.best->status)) : EnumName(row.stopped);
}

std::string SuiteText(const Terminal& terminal, const std::vector<SuiteTask>& tasks) {
  Table table({Right("number"), {.title = "group"}, {.title = "task", .shrinks = true}});
  for (const SuiteTask& task : tasks)
    table.Add({{std::to_string(task.number)}, {task.group}, {task.name}});
  return table.Render(terminal);
}

std::string BenchLine(const BenchRow& row) {
  std::string line = CellName(row.cell) + ": " + StateOf(row);
  if (row.solved() && EagerOf(row)) line += ", " + FormatSpeedup(EagerOf(row)) + " against eager";
  if (row.kept) line += " (kept from before)";
  if (!row.problem.empty()) line += ": " + SafeLine(row.problem);
  if (row.run.empty() && row.best && !row.solved()) line += ": " + SafeLine(row.best->reason);
  return line;
}

std::string BenchText(const Terminal& terminal, const BenchFrame& frame,
                      const BenchResult& result) {
  if (result.rows.empty()) return EndText(frame, result);
  const Scores all = ScoresByArm(frame, result);
  Scores sound;
  for (const std::vector<Score>& scores : all) sound.push_back(SoundAlone(scores));
  const auto none = [](const std::vector<Score>& scores) { return scores.empty(); };
  std::string text = RowsText(terminal, result.rows);
  text += "\nAll tasks (geomean*: failures as 1, who has no kernel runs eager)\n" +
          TablesOf(terminal, frame, all) + ComparisonLines(frame, all);
  text += "\nTasks whose lint is sound alone\n";
  text += std::ranges::all_of(sound, none)
              ? "there is none\n"
              : TablesOf(terminal, frame, sound) + ComparisonLines(frame, sound);
  return text + EndText(frame, result);
}

}  // namespace pragma
