// pragma diagnose: what the rules say of a recorded profile; for people who tune them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "cli/command.h"
#include "core/json.h"
#include "core/profile.h"
#include "profile/diagnosis.h"
#include "profile/rules.h"
#include "report/profile_text.h"
#include "report/table.h"
#include "report/terminal.h"

namespace pragma {
namespace {

struct DiagnoseFlags {
  std::string profile;
  std::string rules;
  bool explain = false;
};

std::string ExplainText(const Terminal& terminal, const std::vector<RuleVerdict>& verdicts) {
  Table table({{.title = "rule"},
               {.title = "outcome"},
               {.title = "explains", .align = Align::kRight},
               {.title = "mark"},
               {.title = "values or what is missing", .shrinks = true}});
  for (const RuleVerdict& verdict : verdicts) {
    std::string values = verdict.reason;
    for (const Metric& metric : verdict.values)
      values += fmt::format("{}{} {:.4g}", values.empty() ? "" : ", ", metric.tag, metric.value);
    const bool fired = verdict.outcome == RuleOutcome::kFired;
    table.Add({{.text = verdict.rule, .style = fired ? Style::kWarn : Style::kPlain},
               {.text = std::string(NameOf(verdict.outcome))},
               {.text = fired ? fmt::format("{:.0f} %", verdict.explains * 100) : ""},
               {.text = verdict.mark},
               {.text = values}});
  }
  return table.Render(terminal);
}

Result<int> Diagnose(const Context& context, const DiagnoseFlags& flags) {
  const std::string text = TRY(ReadFile(flags.profile));
  Profile profile = TRY(ProfileFromJson(text));
  const std::filesystem::path rules_file =
      flags.rules.empty() ? context.paths.knowledge() / "diagnosis" / "cpu.toml"
                          : std::filesystem::path(flags.rules);
  const RuleSet rules = TRY(LoadRules(rules_file));
  profile.diagnosis = pragma::Diagnose(rules, profile.metrics);
  context.console.PrintJson(ToJson(profile));
  const Terminal& terminal = context.console.out;
  context.console.Print(flags.explain ? ExplainText(terminal, Explain(rules, profile.metrics))
                                      : ProfileText(terminal, profile));
  return kExitGood;
}

}  // namespace

void AddDiagnose(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "diagnose", "what the rules say of a recorded profile",
                 "pragma diagnose profile.json --explain");
  const auto flags = std::make_shared<DiagnoseFlags>();
  command.add_option("PROFILE", flags->profile, "JSON that pragma profile --json printed")
      ->required();
  command.add_option("--rules", flags->rules, "other rules than knowledge/diagnosis/cpu.toml")
      ->type_name("FILE");
  command.add_flag("--explain", flags->explain, "show what became of every rule");
  registry.actions[&command] = [flags](const Context& context) {
    return Diagnose(context, *flags);
  };
}

}  // namespace pragma
