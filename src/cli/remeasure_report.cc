#include "cli/remeasure_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/evaluation.h"
#include "core/json.h"
#include "core/trial.h"
#include "report/evaluation_text.h"
#include "report/figures.h"
#include "report/json_text.h"
#include "report/table.h"
#include "report/terminal.h"
#include "search/replay.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

// Shows the figure if there is one, else the status.
Cell Verdict(const Evaluation& evaluation) {
  if (evaluation.passed() && evaluation.speedup_eager) {
    return {FormatSpeedup(evaluation.speedup_eager), SpeedupStyle(evaluation.speedup_eager)};
  }
  return {std::string(StatusName(evaluation.status)), StatusStyle(evaluation.status)};
}

std::string TrialsTable(const Terminal& terminal, const RemeasureReport& report) {
  Table table({{.title = "attempt", .align = Align::kRight},
               {.title = "recorded, vs eager", .align = Align::kRight},
               {.title = "here, vs eager", .align = Align::kRight},
               {.title = "what was tried", .shrinks = true}});
  const std::string star = terminal.unicode ? "★ " : "* ";
  for (const Remeasured& trial : report.result.trials) {
    const bool best = report.best && report.best->node == trial.fresh.node;
    table.Add({{(best ? star : "") + std::to_string(trial.fresh.node),
                best ? Style::kBold : Style::kPlain},
               Verdict(trial.recorded.evaluation),
               Verdict(trial.fresh.evaluation),
               {trial.fresh.advice ? SafeLine(trial.fresh.advice->change) : "", Style::kDim}});
  }
  return table.Render(terminal);
}

// Returns the seconds per phase, summed over all fresh evaluations, including the final one.
std::map<std::string, double> PhaseSeconds(const RemeasureReport& report) {
  std::map<std::string, double> seconds;
  const auto add = [&seconds](const Evaluation& evaluation) {
    for (const auto& [phase, milliseconds] : evaluation.phases_ms)
      seconds[phase] += milliseconds / 1e3;
  };
  for (const Remeasured& trial : report.result.trials) add(trial.fresh.evaluation);
  if (report.best) add(report.best->evaluation);
  return seconds;
}

// Returns the named parts of the total time, in time order. Last comes the time that no phase
// accounts for.
std::vector<std::pair<std::string, double>> TimeParts(const RemeasureReport& report) {
  const std::map<std::string, double> phases = PhaseSeconds(report);
  std::vector<std::pair<std::string, double>> parts{{"start the reference", report.start_seconds}};
  constexpr std::array<std::pair<const char*, const char*>, 5> kPhases{{{"build", "build"},
                                                                        {"load", "load"},
                                                                        {"verify", "check values"},
                                                                        {"tune", "tune"},
                                                                        {"time", "time"}}};
  for (const auto& [phase, title] : kPhases) {
    const auto found = phases.find(phase);
    if (found != phases.end() && found->second > 0) parts.emplace_back(title, found->second);
  }
  double known = 0;
  for (const auto& [title, seconds] : parts) known += seconds;
  parts.emplace_back("everything else", std::max(0.0, report.total_seconds - known));
  return parts;
}

std::string TimeTable(const Terminal& terminal, const RemeasureReport& report) {
  constexpr double kBar = 30;  // columns of a 100 % bar
  Table table({{.title = "where the time went"},
               {.title = "seconds", .align = Align::kRight},
               {.title = "share", .align = Align::kRight},
               {.title = " "}});
  for (const auto& [title, seconds] : TimeParts(report)) {
    const double share = report.total_seconds > 0 ? seconds / report.total_seconds : 0;
    std::string bar;
    for (int i = 0; i < static_cast<int>(share * kBar + 0.5); ++i)
      bar += terminal.unicode ? "█" : "#";
    table.Add({{title},
               {fmt::format("{:.1f}", seconds)},
               {fmt::format("{:.0f} %", share * 100)},
               {bar, Style::kDim}});
  }
  return table.Render(terminal);
}

std::string BestText(const Terminal& terminal, const RemeasureReport& report) {
  if (!report.best) return "No kernel passed on this machine.\n";
  return fmt::format("Best: attempt {}, measured again in fresh processes\n", report.best->node) +
         EvaluationText(terminal, *report.task, report.best->candidate, report.best->evaluation);
}

Json Parsed(const std::string& text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

std::string RemeasureText(const Terminal& terminal, const RemeasureReport& report) {
  std::string text = "\n" + TrialsTable(terminal, report) + "\n" + BestText(terminal, report) +
                     "\n" + TimeTable(terminal, report);
  if (report.result.interrupted)
    text += "\nStopped by the user: later attempts were not measured.\n";
  return text;
}

std::string RemeasureObject(const RemeasureReport& report) {
  Json value = {{"schema", kJsonSchema},
                {"run", report.recording->run},
                {"task", {{"name", report.task->name}, {"sha256", report.task->sha256}}},
                {"trials", Json::array()}};
  for (const Remeasured& trial : report.result.trials) {
    value["trials"].push_back({{"node", trial.fresh.node},
                               {"best", trial.fresh.best},
                               {"recorded", Parsed(ToJson(trial.recorded.evaluation))},
                               {"fresh", Parsed(ToJson(trial.fresh.evaluation))}});
  }
  value["best"] =
      report.best
          ? Parsed(EvaluateObject(*report.task, report.best->candidate, report.best->evaluation))
          : Json(nullptr);
  value["interrupted"] = report.result.interrupted;
  value["seconds"] = report.total_seconds;
  return value.dump();
}

}  // namespace pragma
