// pragma diagnose prints what the rules say about a recorded profile, or about the output of
// another profiler. It is for people who tune the rules, and for machines on which kernels were
// profiled without pragma.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "core/json.h"
#include "core/metric_table.h"
#include "core/profile.h"
#include "knowledge/metric_file.h"
#include "profile/adapter.h"
#include "profile/diagnosis.h"
#include "profile/foreign_tool.h"
#include "profile/rules.h"
#include "report/profile_text.h"
#include "report/table.h"
#include "report/terminal.h"

namespace pragma {
namespace {

struct DiagnoseFlags {
  std::string profile;
  std::string rules;
  std::string adapter;  // name of the tool whose output the profile is
  std::string kernel;
  std::vector<std::string> given;  // TAG=VALUE
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

Result<Metric> GivenMetric(const std::string& text, const MetricTable& metrics) {
  const std::vector<std::string> parts = Split(text, '=');
  char* end = nullptr;
  const double value = parts.size() == 2 ? std::strtod(parts[1].c_str(), &end) : 0;
  if (end == nullptr || *end != '\0' || parts[1].empty() || metrics.Find(parts[0]) == nullptr) {
    return Fail(ErrorKind::kUsage,
                "--given " + text + ": it must be TAG=NUMBER with a tag of docs/metrics.md");
  }
  return Metric{.tag = parts[0], .value = value, .unit = "1", .source = "measured"};
}

// Reads the output of a tool described in knowledge/adapters/.
Result<Profile> ReadForeign(const Context& context, const DiagnoseFlags& flags,
                            const std::string& text) {
  const std::filesystem::path folder = context.app.paths.knowledge() / "adapters";
  const Adapter adapter = TRY(FindAdapter(flags.adapter, folder));
  AdapterMetrics parsed = ParseOutput(adapter, text, flags.kernel);
  if (parsed.metrics.empty()) {
    return Fail(ErrorKind::kUsage, flags.profile + " is not output of " + adapter.name + ": " +
                                       Join(parsed.problems, "; "));
  }
  return Profile{
      .metrics = std::move(parsed.metrics),
      .providers = {
          {.name = adapter.name, .verdict = "ran", .detail = Join(parsed.problems, "; ")}}};
}

Result<Profile> ReadProfile(const Context& context, const DiagnoseFlags& flags,
                            const MetricTable& metrics) {
  const std::string text = TRY(ReadFile(flags.profile));
  Profile profile =
      TRY(flags.adapter.empty() ? ProfileFromJson(text) : ReadForeign(context, flags, text));
  for (const std::string& given : flags.given)
    profile.metrics.push_back(TRY(GivenMetric(given, metrics)));
  return profile;
}

bool IsOfGpu(const Profile& profile) {
  return std::ranges::any_of(profile.metrics,
                             [](const Metric& metric) { return metric.tag.starts_with("gpu_"); });
}

Result<int> Diagnose(const Context& context, const DiagnoseFlags& flags) {
  const MetricTable metrics = TRY(LoadMetrics(context.app.paths.knowledge()));
  Profile profile = TRY(ReadProfile(context, flags, metrics));
  const std::filesystem::path rules_file = flags.rules.empty()
                                               ? context.app.paths.knowledge() / "diagnosis" /
                                                     (IsOfGpu(profile) ? "gpu.toml" : "cpu.toml")
                                               : std::filesystem::path(flags.rules);
  const RuleSet rules = TRY(LoadRules(rules_file, metrics));
  profile.diagnosis = pragma::Diagnose(rules, profile.metrics);
  context.console.PrintJson(ToJson(profile));
  const Terminal& terminal = context.console.out;
  context.console.Print(flags.explain ? ExplainText(terminal, Explain(rules, profile.metrics))
                                      : ProfileText(terminal, profile, metrics));
  return kExitGood;
}

}  // namespace

void AddDiagnose(CLI::App& app, Registry& registry) {
  CLI::App& command =
      AddCommand(app, registry, "diagnose", "apply the diagnosis rules to a recorded profile",
                 "pragma diagnose profile.json --explain");
  const auto flags = std::make_shared<DiagnoseFlags>();
  command
      .add_option("PROFILE", flags->profile,
                  "JSON printed by pragma profile --json, or with --from the output of a tool")
      ->required();
  command
      .add_option("--from", flags->adapter,
                  "tool that printed it: ncu, rocprofv3, msprof, perf-stat, or an adapter's file "
                  "(docs/add-a-backend.md)")
      ->type_name("TOOL");
  command.add_option("--kernel", flags->kernel, "with --from: part of the kernel's name")
      ->type_name("NAME");
  command
      .add_option("--given", flags->given,
                  "values that the profile lacks, by tag (docs/metrics.md)")
      ->type_name("TAG=VALUE,...")
      ->delimiter(',');
  command
      .add_option(
          "--rules", flags->rules,
          "rules to use instead of knowledge/diagnosis/cpu.toml (gpu.toml for a GPU's profile)")
      ->type_name("FILE");
  command.add_flag("--explain", flags->explain, "show the result of every rule");
  registry.actions[&command] = [flags](const Context& context) {
    return Diagnose(context, *flags);
  };
}

}  // namespace pragma
