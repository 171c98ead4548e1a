#include "knowledge/metric_file.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/toml_reader.h"
#include "core/metric_table.h"

namespace pragma {
namespace {

MetricComparison ReadComparison(TomlReader& table) {
  MetricComparison comparison;
  table.Require("place", comparison.place);
  if (comparison.place < 1) table.Complain("place", "must be 1 or more");
  table.Require("words", comparison.words);
  if (!table.Has("kind")) table.Complain("kind", "is missing");
  table.GetChoice<FigureKind>(
      "kind",
      {{"time", FigureKind::kTime}, {"count", FigureKind::kCount}, {"ratio", FigureKind::kRatio}},
      comparison.kind);
  table.Get("cycles", comparison.cycles);
  return comparison;
}

MetricDefinition ReadMetric(TomlReader& table) {
  MetricDefinition metric;
  table.Require("tag", metric.tag);
  table.Require("unit", metric.unit);
  table.Require("meaning", metric.meaning);
  table.Get("percent", metric.percent);
  table.GetChoice<Better>("better", {{"low", Better::kLow}, {"high", Better::kHigh}},
                          metric.better);
  table.Get("prompt", metric.prompt);
  table.Get("report", metric.report);
  table.Get("quiet_at_zero", metric.quiet_at_zero);
  table.Table("compared", [&](TomlReader& inner) { metric.compared = ReadComparison(inner); });
  return metric;
}

}  // namespace

Result<std::vector<MetricDefinition>> ParseMetrics(std::string_view toml, const std::string& name) {
  TomlReader file = TRY(TomlReader::Parse(toml, name));
  std::vector<MetricDefinition> metrics;
  file.Tables("metric", [&](TomlReader& table) { metrics.push_back(ReadMetric(table)); });
  TRY(file.status());
  return metrics;
}

Result<MetricTable> LoadMetrics(const std::filesystem::path& folder) {
  std::vector<MetricDefinition> all;
  for (const std::filesystem::path& file : TRY(TomlFilesIn(folder / "metrics"))) {
    const std::string text = TRY(ReadFile(file));
    std::vector<MetricDefinition> metrics = TRY(ParseMetrics(text, file.string()));
    std::ranges::move(metrics, std::back_inserter(all));
  }
  return MetricTable::Make(std::move(all));
}

}  // namespace pragma
