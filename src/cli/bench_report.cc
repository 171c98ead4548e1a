#include "cli/bench_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/loop.h"
#include "bench/suite.h"
#include "core/evaluation.h"
#include "core/json.h"
#include "report/figures.h"
#include "report/json_text.h"
#include "report/table.h"
#include "report/terminal.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

bool Passed(const BenchRow& row) { return row.best && row.best->passed(); }

std::string StateOf(const BenchRow& row) {
  if (!row.problem.empty()) return "task_error";
  if (row.stopped == "interrupted") return "interrupted";
  return Passed(row) ? "passed" : "no kernel passed";
}

std::optional<Interval> EagerOf(const BenchRow& row) {
  return row.best ? row.best->speedup_eager : std::nullopt;
}

Json RowJson(const BenchRow& row) {
  Json value = {{"task", row.cell.task.name},     {"group", row.cell.task.group},
                {"number", row.cell.task.number}, {"path", row.cell.task.path.string()},
                {"strategy", row.cell.strategy},  {"run", row.run},
                {"passed", Passed(row)},          {"attempts", row.attempts},
                {"stopped", row.stopped},         {"kept", row.kept},
                {"problem", row.problem}};
  value["spent"] = {
      {"seconds", row.spent.seconds}, {"tokens", row.spent.tokens()}, {"usd", row.spent.usd}};
  value["bundle"] = row.bundle.empty() ? Json(nullptr) : Json(row.bundle);
  value["best"] = row.best ? Json::parse(ToJson(*row.best), nullptr, false) : Json(nullptr);
  return value;
}

}  // namespace

std::string SuiteText(const Terminal& terminal, const std::vector<SuiteTask>& tasks) {
  Table table({{.title = "number", .align = Align::kRight},
               {.title = "group"},
               {.title = "task", .shrinks = true}});
  for (const SuiteTask& task : tasks)
    table.Add({{std::to_string(task.number)}, {task.group}, {task.name}});
  return table.Render(terminal);
}

std::string SuiteObject(const std::vector<SuiteTask>& tasks) {
  Json value = {{"schema", kJsonSchema}, {"tasks", Json::array()}};
  for (const SuiteTask& task : tasks) {
    value["tasks"].push_back({{"task", task.name},
                              {"group", task.group},
                              {"number", task.number},
                              {"path", task.path.string()}});
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string BenchLine(const BenchRow& row) {
  std::string line = row.cell.task.name + ", " + row.cell.strategy + ": " + StateOf(row);
  if (Passed(row) && EagerOf(row)) line += ", " + FormatSpeedup(EagerOf(row)) + " against eager";
  if (row.kept) line += " (kept from before)";
  if (!row.problem.empty()) line += ": " + SafeLine(row.problem);
  return line;
}

std::string BenchText(const Terminal& terminal, const BenchResult& result) {
  Table table({{.title = "task", .shrinks = true},
               {.title = "strategy"},
               {.title = "result"},
               {.title = "vs eager [95 %]", .align = Align::kRight},
               {.title = "tries", .align = Align::kRight},
               {.title = "tokens", .align = Align::kRight},
               {.title = "time", .align = Align::kRight}});
  for (const BenchRow& row : result.rows) {
    table.Add({{row.cell.task.name},
               {row.cell.strategy},
               {StateOf(row), Passed(row) ? Style::kGood : Style::kBad},
               {FormatSpeedup(EagerOf(row)), SpeedupStyle(EagerOf(row))},
               {std::to_string(row.attempts)},
               {row.spent.tokens() == 0 ? "-" : FormatCount(row.spent.tokens())},
               {FormatElapsed(row.spent.seconds)}});
  }
  std::string text = table.Render(terminal);
  if (result.interrupted) text += "\nStopped by the user; the same command goes on from here.\n";
  return text;
}

std::string BenchObject(const BenchResult& result) {
  Json value = {{"schema", kJsonSchema}, {"strategies", Json::object()}, {"tasks", Json::array()}};
  struct Count {
    int tasks = 0;
    int passed = 0;
  };
  std::map<std::string, Count> counts;
  for (const BenchRow& row : result.rows) {
    Count& count = counts[row.cell.strategy];
    ++count.tasks;
    count.passed += Passed(row) ? 1 : 0;
    value["tasks"].push_back(RowJson(row));
  }
  for (const auto& [strategy, count] : counts) {
    value["strategies"][strategy] = {{"tasks", count.tasks},
                                     {"success", static_cast<double>(count.passed) / count.tasks}};
  }
  value["interrupted"] = result.interrupted;
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace pragma
