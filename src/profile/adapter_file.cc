// Reads adapters from their TOML files. Every possible mistake in a file is reported here with its
// field, so that none is left to be discovered on a GPU that is rented by the minute.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "base/toml_reader.h"
#include "profile/adapter.h"
#include "profile/formula.h"

namespace pragma {
namespace {

template <class E>
using Names = std::vector<std::pair<std::string, E>>;

const Names<RowChoice>& RowChoices() {
  static const Names<RowChoice> kNames{
      {"first", RowChoice::kFirst}, {"last", RowChoice::kLast}, {"sum", RowChoice::kSum},
      {"mean", RowChoice::kMean},   {"max", RowChoice::kMax},   {"largest", RowChoice::kLargest},
      {"count", RowChoice::kCount}};
  return kNames;
}

bool IsPlaceholder(std::string_view name) {
  constexpr std::array<std::string_view, 4> kPlain{"program", "kernel", "metrics", "out"};
  if (std::ranges::find(kPlain, name) != kPlain.end()) return true;
  if (name.size() < 4 || name[0] != 'l' || name[1] < '1' || name[1] > '3') return false;
  const std::string_view rest = name.substr(2);
  return rest == "_bytes" || rest == "_ways" || rest == "_line";
}

// Returns the placeholders in one argument, or an error that says what is wrong with it.
Result<std::vector<std::string>> Placeholders(const std::string& argument) {
  std::vector<std::string> found;
  for (std::size_t at = argument.find('{'); at != std::string::npos;
       at = argument.find('{', at + 1)) {
    const std::size_t end = argument.find('}', at);
    if (end == std::string::npos)
      return Fail(fmt::format("\"{}\" has a {{ without a }}", argument));
    std::string name = argument.substr(at + 1, end - at - 1);
    if (!IsPlaceholder(name)) return Fail(fmt::format("{{{}}} is not a placeholder", name));
    found.push_back(std::move(name));
  }
  return found;
}

void CheckCommand(TomlReader& file, const Adapter& adapter) {
  if (adapter.command.empty()) return file.Complain("command", "is empty");
  int programs = 0;
  bool out = false;
  for (const std::string& argument : adapter.command) {
    const auto names = Placeholders(argument);
    if (!names) return file.Complain("command", names.error().message);
    for (const std::string& name : *names) {
      out = out || name == "out";
      if (name != "program") continue;
      ++programs;
      if (argument != "{program}")
        file.Complain("command", "{program} must be an argument of its own");
    }
  }
  if (programs != 1) file.Complain("command", "must hold {program} once");
  if (adapter.output.where == OutputPlace::kFile && !out)
    file.Complain("command", "must hold {out}, since output.where is \"file\"");
}

void ReadProbe(TomlReader& table, AdapterProbe& probe) {
  table.Require("program", probe.program);
  table.Get("folders", probe.folders);
  table.Require("install", probe.install);
  table.Get("unknown_metric", probe.unknown_metric);
  table.Tables("refusal", [&](TomlReader& entry) {
    AdapterProbe::Refusal refusal;
    entry.Get("exit", refusal.exit);
    entry.Get("text", refusal.text);
    if (!refusal.exit && refusal.text.empty()) entry.Complain("text", "or exit is needed");
    const Names<std::string> verdicts{
        {"absent", "absent"}, {"refused", "refused"}, {"failed", "failed"}};
    refusal.verdict = "refused";
    entry.GetChoice("verdict", verdicts, refusal.verdict);
    entry.Require("advice", refusal.advice);
    probe.refusals.push_back(std::move(refusal));
  });
}

void ReadCsvDialect(TomlReader& table, AdapterOutput& output) {
  std::string separator(1, output.separator);
  table.Get("separator", separator);
  if (separator.size() != 1 || separator == "\"")
    table.Complain("separator", "must be one letter");
  else
    output.separator = separator.front();
  table.Get("comment", output.comment);
  table.Get("start", output.start);
  table.Get("columns", output.columns);
  table.Get("units_row", output.units_row);
  table.Get("thousands", output.thousands);
}

void ReadOutput(TomlReader& table, AdapterOutput& output) {
  table.GetChoice<OutputPlace>("where",
                               {{"stdout", OutputPlace::kStdout},
                                {"stderr", OutputPlace::kStderr},
                                {"file", OutputPlace::kFile}},
                               output.where);
  table.GetChoice<OutputFormat>("format",
                                {{"csv", OutputFormat::kCsv},
                                 {"json", OutputFormat::kJson},
                                 {"jsonl", OutputFormat::kJsonLines},
                                 {"events", OutputFormat::kEvents}},
                                output.format);
  table.Get("files", output.files);
  if (!output.files.empty() && output.where != OutputPlace::kFile)
    table.Complain("files", "needs where = \"file\"");
  ReadCsvDialect(table, output);
  table.Get("missing", output.missing);
  table.Get("name_column", output.name_column);
  table.Get("value_column", output.value_column);
  if (output.name_column.empty() != output.value_column.empty())
    table.Complain("value_column", "and name_column need each other");
  table.Get("unit_column", output.unit_column);
  table.Get("row_column", output.row_column);
  table.Get("kernel_column", output.kernel_column);
  table.Get("rows_path", output.rows_path);
  table.GetChoice("rows", RowChoices(), output.choice);
  table.Get("largest_by", output.largest_by);
  if (output.choice == RowChoice::kLargest && output.largest_by.empty())
    table.Complain("largest_by", "is missing, with rows = \"largest\"");
}

bool IsTag(std::string_view tag) {
  return !tag.empty() && std::ranges::all_of(tag, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void CheckSource(TomlReader& table, const AdapterMetric& metric) {
  static const std::vector<std::string> kSources{"pmu",     "exact count", "measured", "simulated",
                                                 "sampled", "static",      "estimated"};
  if (std::ranges::find(kSources, metric.source) == kSources.end())
    table.Complain("source",
                   fmt::format("is \"{}\"; known are {}", metric.source, Join(kSources, ", ")));
}

AdapterMetric ReadMetric(TomlReader& table, const Adapter& adapter) {
  AdapterMetric metric;
  table.Require("tag", metric.tag);
  if (!IsTag(metric.tag)) table.Complain("tag", "must be of small letters, digits and _");
  table.Get("native", metric.native);
  table.Get("formula", metric.formula);
  if (metric.native.empty() == metric.formula.empty())
    table.Complain("native", "or formula is needed, and not both");
  if (!metric.formula.empty()) {
    const auto names = FormulaNames(metric.formula);
    if (!names) table.Complain("formula", "cannot be read: " + names.error().message);
  }
  table.Require("unit", metric.unit);
  table.Get("factor", metric.factor);
  table.Get("units", metric.units);
  table.Require("source", metric.source);
  CheckSource(table, metric);
  if (table.Has("rows")) table.GetChoice("rows", RowChoices(), metric.choice.emplace());
  if (metric.choice == RowChoice::kLargest && adapter.output.largest_by.empty())
    table.Complain("rows", "is \"largest\", and output.largest_by is missing");
  table.Require("description", metric.description);
  table.Require("documentation", metric.documentation);
  if (!metric.documentation.starts_with("https://") && !metric.documentation.starts_with("http://"))
    table.Complain("documentation", "must be an address (https://...)");
  return metric;
}

void ReadMetrics(TomlReader& file, Adapter& adapter) {
  std::set<std::string> tags;
  file.Tables("metric", [&](TomlReader& table) {
    adapter.metrics.push_back(ReadMetric(table, adapter));
    const std::string& tag = adapter.metrics.back().tag;
    if (!tags.insert(tag).second) table.Complain("tag", fmt::format("{} occurs twice", tag));
  });
  if (adapter.metrics.empty()) file.Complain("metric", "is missing: no [[metric]]");
}

}  // namespace

Result<Adapter> ParseAdapter(std::string_view toml, const std::string& name) {
  TomlReader file = TRY(TomlReader::Parse(toml, name));
  Adapter adapter;
  file.Require("name", adapter.name);
  file.Require("title", adapter.title);
  if (!file.Has("target")) file.Complain("target", "is missing");
  file.GetChoice<AdapterTarget>(
      "target",
      {{"cpu", AdapterTarget::kCpu}, {"gpu", AdapterTarget::kGpu}, {"npu", AdapterTarget::kNpu}},
      adapter.target);
  file.Require("documentation", adapter.documentation);
  file.Require("command", adapter.command);
  file.Get("metrics_separator", adapter.metrics_separator);
  file.Get("portable_program", adapter.portable_program);
  file.Get("metrics_per_run", adapter.metrics_per_run);
  if (adapter.metrics_per_run < 0) file.Complain("metrics_per_run", "must not be negative");
  file.Get("given", adapter.given);
  file.Get("env", adapter.env);
  if (!file.Has("probe")) file.Complain("probe", "is missing");
  file.Table("probe", [&](TomlReader& table) { ReadProbe(table, adapter.probe); });
  if (!file.Has("output")) file.Complain("output", "is missing");
  file.Table("output", [&](TomlReader& table) { ReadOutput(table, adapter.output); });
  ReadMetrics(file, adapter);
  CheckCommand(file, adapter);
  file.NoMoreKeys();
  TRY(file.status());
  return adapter;
}

Result<Adapter> LoadAdapter(const std::filesystem::path& path) {
  const std::string text = TRY(ReadFile(path));
  return ParseAdapter(text, path.string());
}

Result<std::vector<Adapter>> LoadAdapters(const std::filesystem::path& folder) {
  std::vector<Adapter> adapters;
  for (const std::filesystem::path& path : TRY(TomlFilesIn(folder)))
    adapters.push_back(TRY(LoadAdapter(path)));
  return adapters;
}

}  // namespace pragma
