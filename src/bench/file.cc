#include "bench/file.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "core/json.h"
#include "core/json_reader.h"
#include "core/task.h"
#include "core/timing.h"
#include "core/trial_summary.h"
#include "report/bench_page.h"
#include "store/store.h"

namespace pragma {
namespace {

// Reads {"median", "ci95": [low, high]}. Returns nullopt unless all three numbers are there.
std::optional<Interval> ReadRatio(const JsonReader& reader) {
  std::vector<double> ends;
  reader.Get("ci95", ends);
  Interval ratio;
  reader.Get("median", ratio.median);
  if (reader.null() || ends.size() != 2) return std::nullopt;
  ratio.low = ends[0];
  ratio.high = ends[1];
  return ratio;
}

std::vector<BestMark> ReadCurve(const JsonReader& reader) {
  std::vector<BestMark> curve;
  for (const JsonReader& item : reader.items()) {
    BestMark& point = curve.emplace_back();
    item.Get("attempt", point.attempt);
    item.Get("tokens", point.tokens);
    if (!item["best"].null()) item.Get("best", point.best.emplace());
  }
  return curve;
}

BenchReportRow ReadRow(const JsonReader& reader) {
  BenchReportRow row;
  reader.Require("task", row.task);
  reader.Get("category", row.category);
  if (row.category.empty()) reader.Get("group", row.category);
  reader.Get("lint", row.lint);
  reader.Require("strategy", row.strategy);
  reader.Get("model", row.model);
  reader.Get("repeat", row.repeat);
  reader.Get("run", row.run);
  reader.Get("passed", row.passed);
  reader.Get("problem", row.problem);
  reader.Get("stopped", row.stopped);
  reader.Get("attempts", row.attempts);
  reader["spent"].Get("tokens", row.tokens);
  reader["spent"].Get("usd", row.usd);
  reader["spent"].Get("seconds", row.seconds);
  row.eager = ReadRatio(reader["best"]["speedup"]["eager"]);
  row.compile = ReadRatio(reader["best"]["speedup"]["compile"]);
  row.curve = ReadCurve(reader["curve"]);
  return row;
}

void FillRow(BenchReportRow& row, const Store& store) {
  const Result<RunRecord> run = store.FindRun(row.run);
  if (!run) return;
  if (const Result<Task> task = TaskFromJson(run->task_json)) {
    row.category = task->category;
    if (row.lint.empty()) row.lint = task->lint;
  }
  if (!row.curve.empty()) return;
  if (const auto trials = store.Summaries(run->id)) row.curve = CurveOf(*trials);
}

}  // namespace

Result<BenchReport> ParseBenchReport(std::string_view json, std::string_view name) {
  const JsonReader reader = TRY(JsonReader::Parse(json, name));
  if (reader["tasks"].type() != JsonReader::Type::kArray) {
    return Fail(ErrorKind::kUsage, std::string(name) +
                                       " is not a bench result: it has no list \"tasks\"; write "
                                       "one with: pragma bench ... --json > FILE");
  }
  BenchReport report;
  reader.Get("interrupted", report.interrupted);
  for (const JsonReader& item : reader["tasks"].items()) report.rows.push_back(ReadRow(item));
  if (const Result<void> read = reader.status(); !read)
    return Fail(ErrorKind::kUsage, read.error().message);
  return report;
}

Result<BenchReport> LoadBenchReport(const std::filesystem::path& path) {
  const Result<std::string> text = ReadFile(path);
  if (!text) return Fail(ErrorKind::kUsage, text.error().message);
  Result<BenchReport> report = ParseBenchReport(*text, path.string());
  if (!report) return Fail(ErrorKind::kUsage, report.error().message);
  report->name = path.stem().string();
  return report;
}

void FillFromStore(BenchReport& report, const Store& store) {
  for (BenchReportRow& row : report.rows) {
    if (!row.run.empty()) FillRow(row, store);
  }
}

std::vector<BestMark> CurveOf(const std::vector<TrialSummary>& trials) {
  std::vector<BestMark> curve;
  BestMark now;
  for (const TrialSummary& trial : trials) {
    now.attempt = trial.node;
    now.tokens += trial.spent.tokens();
    if (trial.best && trial.speedup_eager) now.best = trial.speedup_eager->median;
    curve.push_back(now);
  }
  return curve;
}

}  // namespace pragma
