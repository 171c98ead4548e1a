// Builds the JSON object of a benchmark (docs/benchmarks.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/loop.h"
#include "bench/metrics.h"
#include "bench/report.h"
#include "bench/row.h"
#include "bench/suite.h"
#include "core/enum_names.h"
#include "core/json.h"
#include "core/json_dump.h"
#include "core/spent.h"
#include "core/status.h"
#include "core/timing.h"
#include "report/json_text.h"
#include "verify/paper_timing.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;
// Labels the figures of the paper's protocol, so that they are not taken for pragma's own.
constexpr const char* kPaperProtocol = "5 warm-ups, mean of 100 calls, ratio of means";
using Shares = std::array<double, kFastThresholds.size()>;

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json SpentJson(const Spent& spent) {
  return {{"seconds", spent.seconds}, {"tokens", spent.tokens()}, {"usd", spent.usd}};
}

Json CurveJson(const std::vector<CurvePoint>& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve) {
    points.push_back({{"attempt", point.attempt},
                      {"status", StatusName(point.status)},
                      {"tokens", point.tokens},
                      {"usd", point.usd},
                      {"seconds", point.seconds},
                      {"best", point.best ? Json(*point.best) : Json(nullptr)}});
  }
  return points;
}

Json TimesJson(const std::optional<CallTimes>& times) {
  if (!times) return nullptr;
  return {{"mean_ms", times->mean},
          {"std_ms", times->std},
          {"min_ms", times->min},
          {"max_ms", times->max},
          {"calls", times->trials}};
}

Json PaperJson(const BenchRow& row) {
  if (!row.paper) return nullptr;
  const PaperTiming& timing = *row.paper;
  const auto ratio = [&](const std::optional<CallTimes>& baseline) {
    const std::optional<double> value = SpeedupByPaper(baseline, timing.candidate);
    return value ? Json(*value) : Json(nullptr);
  };
  return {{"protocol", kPaperProtocol},
          {"subject", TextOrNull(row.paper_subject)},
          {"candidate", TimesJson(timing.candidate)},
          {"eager", TimesJson(timing.eager)},
          {"compile", TimesJson(timing.compile)},
          {"speedup_eager", ratio(timing.eager)},
          {"speedup_compile", ratio(timing.compile)},
          {"failure", timing.failure}};
}

Json RowJson(const BenchRow& row) {
  Json value = {{"task", row.cell.task.name},
                {"group", row.cell.task.group},
                {"number", row.cell.task.number},
                {"path", row.cell.task.path.string()},
                {"strategy", row.cell.strategy},
                {"model", TextOrNull(row.cell.model)},
                {"repeat", row.cell.repeat},
                {"category", TextOrNull(row.category)},
                {"lint", TextOrNull(row.lint)},
                {"run", row.run},
                {"state", StateOf(row)},
                {"passed", row.solved()},
                {"attempts", row.attempts},
                {"stopped", EnumName(row.stopped)},
                {"kept", row.kept},
                {"problem", row.problem}};
  value["spent"] = SpentJson(row.spent);
  value["bundle"] = TextOrNull(row.bundle);
  value["signature"] = TextOrNull(row.signature);
  value["paper_timing"] = PaperJson(row);
  value["curve"] = CurveJson(row.curve);
  value["best"] = row.best ? Json::parse(ToJson(*row.best), nullptr, false) : Json(nullptr);
  return value;
}

// Formats the thresholds as KernelBench does: "0.0", "0.5", ...
Json FastJson(const Shares& shares) {
  Json value = Json::object();
  for (std::size_t i = 0; i < shares.size(); ++i)
    value[fmt::format("{:.1f}", kFastThresholds.at(i))] = shares.at(i);
  return value;
}

void AddMeans(Json& value, const Means& means, const std::string& suffix = {}) {
  const auto or_null = [&](double figure) {
    return means.count == 0 ? Json(nullptr) : Json(figure);
  };
  value["mean" + suffix] = or_null(means.mean);
  value["geomean" + suffix] = or_null(means.geomean);
  value["median" + suffix] = or_null(means.median);
}

Json SummaryJson(const Summary& summary) {
  Json value = {{"runs", summary.cells},      {"tasks", summary.tasks},
                {"solved", summary.solved},   {"task_errors", summary.task_errors},
                {"success", summary.success}, {"fast_p", FastJson(summary.fast_eager)}};
  value["fast_p_compile"] = summary.fast_compile ? FastJson(*summary.fast_compile) : Json(nullptr);
  AddMeans(value, summary.eager);
  AddMeans(value, summary.eager_fallback, "_fallback");
  value["call"] = Json::object();
  AddMeans(value["call"], summary.call);
  value["compile"] = Json::object();
  AddMeans(value["compile"], summary.compile);
  if (summary.paper.count > 0) {
    value["paper_timing"] = {{"protocol", kPaperProtocol}, {"fast_1", summary.paper_fast_one}};
    AddMeans(value["paper_timing"], summary.paper);
  }
  value["attempts"] = {{"count", summary.attempts.attempts},
                       {"compile_rate", summary.attempts.compiled},
                       {"correct_rate", summary.attempts.correct}};
  value["spent"] = {{"seconds", summary.seconds}, {"tokens", summary.tokens}, {"usd", summary.usd}};
  return value;
}

Json PassJson(std::span<const Score> scores, int repeats) {
  Json over_repeats = {{"over", "repeats of a task"}};
  Json over_attempts = {
      {"over", "attempts of a run, taken as exchangeable; they are in sampling only"}};
  std::size_t attempts = 0;
  for (const Score& score : scores) attempts = std::max(attempts, score.curve.size());
  for (const std::size_t k : {1UZ, 2UZ, 3UZ, 5UZ, 10UZ, 15UZ, 30UZ}) {
    const std::string name = std::to_string(k);
    if (k <= static_cast<std::size_t>(repeats)) {
      if (const auto pass = PassOverRepeats(scores, k)) over_repeats[name] = *pass;
    }
    if (k <= attempts) over_attempts[name] = PassOverAttempts(scores, k);
  }
  return {{"repeats", over_repeats}, {"attempts", over_attempts}};
}

Json CurvesJson(std::span<const Score> scores, GridOf axis, const std::vector<std::int64_t>& grid) {
  Json points = Json::array();
  for (const GridPoint& point : BestSoFar(scores, axis, grid)) {
    points.push_back(
        {{"at", point.at}, {"solved", point.solved}, {"geomean_fallback", point.geomean_fallback}});
  }
  return points;
}

// Returns everything about one selection of an arm's scores.
Json SelectionJson(std::span<const Score> scores, int repeats) {
  Json value = SummaryJson(Summarise(scores));
  value["by_category"] = Json::object();
  for (const auto& [category, summary] : SummariseCategories(scores))
    value["by_category"][category] = SummaryJson(summary);
  value["pass_at_k"] = PassJson(scores, repeats);
  return value;
}

Json IntervalJson(const std::optional<Interval>& ratio) {
  if (!ratio) return nullptr;
  Json value = {{"geomean", ratio->median}, {"ci95", nullptr}};
  if (std::isfinite(ratio->high)) value["ci95"] = {ratio->low, ratio->high};
  return value;
}

Json ComparisonJson(const PairedComparison& pair) {
  return {{"tasks", pair.tasks},
          {"solved_by_both", pair.solved_by_both},
          {"first_ahead", pair.first_ahead},
          {"second_ahead", pair.second_ahead},
          {"ratio_fallback", IntervalJson(pair.fallback)},
          {"ratio_solved", IntervalJson(pair.solved)}};
}

Json ComparisonsJson(const BenchFrame& frame, const std::vector<std::vector<Score>>& scores) {
  Json value = Json::array();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    for (std::size_t j = i + 1; j < scores.size(); ++j) {
      Json pair = {{"first", frame.arms[i].name}, {"second", frame.arms[j].name}};
      pair.update(ComparisonJson(ComparePaired(scores[i], scores[j])));
      pair["sound"] = ComparisonJson(ComparePaired(SoundAlone(scores[i]), SoundAlone(scores[j])));
      value.push_back(pair);
    }
  }
  return value;
}

// Returns the same steps for all arms, so that their curves can be drawn over each other.
std::vector<std::int64_t> CommonGrid(const std::vector<std::vector<Score>>& scores, GridOf axis) {
  std::vector<Score> all;
  for (const std::vector<Score>& arm : scores) all.insert(all.end(), arm.begin(), arm.end());
  return GridFor(all, axis);
}

Json ArmsJson(const BenchFrame& frame, const std::vector<std::vector<Score>>& scores) {
  const std::vector<std::int64_t> attempts = CommonGrid(scores, GridOf::kAttempts);
  const std::vector<std::int64_t> tokens = CommonGrid(scores, GridOf::kTokens);
  Json value = Json::object();
  for (std::size_t i = 0; i < frame.arms.size(); ++i) {
    Json arm = {{"strategy", frame.arms[i].strategy}, {"model", TextOrNull(frame.arms[i].model)}};
    arm.update(SelectionJson(scores[i], frame.repeats));
    arm["sound"] = SelectionJson(SoundAlone(scores[i]), frame.repeats);
    arm["best_so_far"] = {{"attempts", CurvesJson(scores[i], GridOf::kAttempts, attempts)},
                          {"tokens", CurvesJson(scores[i], GridOf::kTokens, tokens)}};
    value[frame.arms[i].name] = arm;
  }
  return value;
}

}  // namespace

std::string SuiteObject(const std::vector<SuiteTask>& tasks) {
  Json value = {{"schema", kJsonSchema}, {"tasks", Json::array()}};
  for (const SuiteTask& task : tasks) {
    value["tasks"].push_back({{"task", task.name},
                              {"group", task.group},
                              {"number", task.number},
                              {"path", task.path.string()}});
  }
  return Dump(value);
}

std::string BenchObject(const BenchFrame& frame, const BenchResult& result) {
  const std::vector<std::vector<Score>> scores = ScoresByArm(frame, result);
  Json value = {{"schema", kJsonSchema}};
  value["budget"] = frame.budget;
  value["repeats"] = frame.repeats;
  value["jobs"] = frame.jobs;
  value["strategies"] = ArmsJson(frame, scores);
  value["comparisons"] = ComparisonsJson(frame, scores);
  value["tasks"] = Json::array();
  Spent spent;
  for (const BenchRow& row : result.rows) {
    spent += row.spent;
    value["tasks"].push_back(RowJson(row));
  }
  value["spent"] = SpentJson(spent);
  value["not_begun"] = Json::array();
  for (const BenchCell& cell : result.not_begun) value["not_begun"].push_back(CellName(cell));
  value["kernelbench"] = frame.kernelbench;
  value["interrupted"] = result.interrupted;
  return Dump(value);
}

}  // namespace pragma
