// pragma lint tells whether a task can tell a wrong kernel from a right one.
#include "lint/lint.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/evaluation_request.h"
#include "app/task_bench.h"
#include "app/workbench.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/judging_flags.h"
#include "core/json_dump.h"
#include "report/json_text.h"
#include "report/phase_line.h"
#include "report/table.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;

struct LintFlags {
  std::vector<std::string> tasks;
  std::string budget;  // duration, checked when parsed
  JudgingFlags judging;
};

// The result for one file: a report, or the reason why there is none.
struct Linted {
  std::string task;
  LintReport report;
  std::string failure;
};

Json LintJson(const Linted& linted) {
  Json value = {{"schema", kJsonSchema}, {"task", linted.task}};
  if (!linted.failure.empty()) {
    value["verdict"] = nullptr;
    value["failure"] = linted.failure;
    return value;
  }
  const LintReport& report = linted.report;
  value["verdict"] = LintVerdictName(report.verdict);
  value["strict_mode_tells"] = report.strict_mode_tells();
  value["accepted_decoys"] = Json::array();
  for (const AcceptedDecoy& decoy : report.accepted) {
    Json rules = Json::array();
    if (decoy.official) rules.push_back("official");
    if (decoy.strict) rules.push_back("strict");
    value["accepted_decoys"].push_back(
        {{"decoy", decoy.decoy}, {"rules", rules}, {"rejected_by", decoy.rejected_by}});
  }
  value["invariances"] = report.invariances;
  value["batteries"] = report.batteries;
  value["notes"] = report.notes;
  value["seconds"] = report.seconds;
  return value;
}

Style VerdictStyle(const Linted& linted) {
  if (!linted.failure.empty() || linted.report.verdict == LintVerdict::kDegenerate)
    return Style::kBad;
  return linted.report.verdict == LintVerdict::kSound ? Style::kGood : Style::kWarn;
}

std::string Rules(const AcceptedDecoy& decoy) {
  if (decoy.official && decoy.strict) return "official and strict";
  return decoy.strict ? "strict" : "official";
}

std::string Rejected(const AcceptedDecoy& decoy) {
  return decoy.rejected_by.empty() ? "nothing" : decoy.rejected_by;
}

// Formats the result of one task in full.
std::string LintText(const Terminal& terminal, const Linted& linted) {
  const LintReport& report = linted.report;
  std::string text = Styled(terminal, VerdictStyle(linted), LintVerdictName(report.verdict)) +
                     "  " + SafeLine(linted.task) + "\n";
  if (!report.accepted.empty()) {
    Table table({{.title = "wrong kernel that its own inputs let pass", .shrinks = true},
                 {.title = "by the rule"},
                 {.title = "strict mode rejects it by"}});
    for (const AcceptedDecoy& decoy : report.accepted) {
      table.Add({{SafeLine(decoy.decoy)},
                 {Rules(decoy)},
                 {Rejected(decoy), decoy.rejected_by.empty() ? Style::kBad : Style::kGood}});
    }
    text += table.Render(terminal);
  }
  std::vector<std::pair<std::string, std::string>> facts;
  if (!report.invariances.empty())
    facts.emplace_back("no effect of", SafeLine(Join(report.invariances, ", ")));
  if (!report.batteries.empty()) facts.emplace_back("batteries", Join(report.batteries, ", "));
  for (const std::string& note : report.notes) facts.emplace_back("note", SafeLine(note));
  facts.emplace_back("took", FormatSeconds(report.seconds));
  return text + RenderFacts(terminal, facts);
}

std::string LintTable(const Terminal& terminal, const std::vector<Linted>& all) {
  Table table({{.title = "task"}, {.title = "verdict"}, {.title = "detail", .shrinks = true}});
  for (const Linted& linted : all) {
    const bool failed = !linted.failure.empty();
    table.Add({{SafeLine(linted.task)},
               {failed ? "failed" : std::string(LintVerdictName(linted.report.verdict)),
                VerdictStyle(linted)},
               {SafeLine(failed ? linted.failure : linted.report.Summary())}});
  }
  return table.Render(terminal);
}

Result<Linted> LintFile(const Context& context, const LintFlags& flags, Workbench& bench,
                        const std::string& file) {
  PhaseLine line(context.console.err);
  line.Show("starting the reference");
  const auto task = TRY(TaskBench::Open(
      bench, file, {.judging = flags.judging.Over(context.app.settings)}, Measure::kNothing));
  LintOptions options;
  if (!flags.budget.empty()) options.budget = Seconds(ParseDuration(flags.budget).value_or(120));
  LintReport report =
      TRY(LintTask(task->server(), options, [&line](std::string_view phase) { line.Show(phase); }));
  task->KeepLint(report);
  return Linted{.task = task->task().name, .report = std::move(report), .failure = {}};
}

Result<std::vector<Linted>> LintAll(const Context& context, LintFlags flags) {
  const JudgingOptions judging = flags.judging.Over(context.app.settings);
  for (const std::string& file : flags.tasks) TRY(CheckTaskFile(file));
  const auto bench =
      TRY(Workbench::Create(context.app, WorkbenchFor(judging, flags.judging.sandbox())));
  std::vector<Linted> all;
  for (const std::string& file : flags.tasks) {
    if (Interrupted()) return Fail(ErrorKind::kInterrupted, "stopped by the user");
    Result<Linted> linted = LintFile(context, flags, *bench, file);
    // One bad file among many must not cost the others their verdicts.
    if (!linted && (flags.tasks.size() == 1 || linted.error().kind != ErrorKind::kTask))
      return std::unexpected(linted.error());
    all.push_back(linted ? std::move(*linted)
                         : Linted{.task = std::filesystem::path(file).stem().string(),
                                  .report = {},
                                  .failure = linted.error().message});
  }
  return all;
}

Result<int> Lint(const Context& context, const LintFlags& flags) {
  const Result<std::vector<Linted>> all = LintAll(context, flags);
  if (!all) {
    context.console.PrintJson(FailureObject(all.error()));
    Log(LogLevel::kError, all.error().message);
    return ExitCodeOf(all.error().kind);
  }
  bool sound = true;
  Json objects = Json::array();
  for (const Linted& linted : *all) {
    objects.push_back(LintJson(linted));
    sound = sound && linted.failure.empty() && linted.report.verdict == LintVerdict::kSound;
  }
  const bool one = all->size() == 1;
  context.console.PrintJson(
      Dump(one ? objects[0] : Json{{"schema", kJsonSchema}, {"tasks", objects}}));
  context.console.Print(one ? LintText(context.console.out, all->front())
                            : LintTable(context.console.out, *all));
  return sound ? kExitGood : kExitRejected;
}

}  // namespace

void AddLint(CLI::App& app, Registry& registry) {
  CLI::App& command = AddCommand(app, registry, "lint",
                                 "check whether a task can tell a wrong kernel from a right one",
                                 "pragma lint model.py");
  const auto flags = std::make_shared<LintFlags>();
  command.add_option("TASK", flags->tasks, "PyTorch files in KernelBench's format")->required();
  command.add_option("--budget", flags->budget, "time limit for one task (default: 2m)")
      ->type_name("TIME")
      ->check(DurationComplaint);
  flags->judging.AddTo(command);
  registry.actions[&command] = [flags](const Context& context) { return Lint(context, *flags); };
}

}  // namespace pragma
