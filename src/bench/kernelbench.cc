#include "bench/kernelbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "bench/metrics.h"
#include "bench/row.h"
#include "bench/suite.h"
#include "core/status.h"
#include "verify/paper_timing.h"

namespace pragma {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kNotTimed = -1.0;

// Formats JSON as Python's json.dump does. Invalid UTF-8 is replaced and is not an error.
std::string Dump(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json StatsJson(const CallTimes& times, const std::string& hardware) {
  return {{"mean", times.mean}, {"std", times.std},           {"min", times.min},
          {"max", times.max},   {"num_trials", times.trials}, {"hardware", hardware},
          {"device", "cpu"}};
}

bool AnyCompiled(const BenchRow& row) {
  return row.solved() || std::ranges::any_of(row.curve, Compiled, &CurvePoint::status);
}

// Returns true if the row is correct and timed. A program that assumes that a correct sample has a
// time must not find -1.
bool Counts(const BenchRow& row) { return row.solved() && row.paper && row.paper->candidate; }

Json MetadataJson(const BenchRow& row, const std::string& hardware) {
  Json value = {{"hardware", hardware}, {"device", "cpu"}, {"evaluator", "pragma"}};
  const std::string last =
      row.curve.empty() ? "no attempt" : std::string(StatusName(row.curve.back().status));
  if (row.solved() && !Counts(row)) {
    value["error_during_performance"] = row.paper ? row.paper->failure : "not timed";
  } else if (!row.solved()) {
    value[AnyCompiled(row) ? "correctness_issue" : "compilation_error"] =
        row.problem.empty() ? "no attempt passed; the last: " + last : row.problem;
  }
  return value;
}

Json SampleJson(const BenchRow& row, const std::string& hardware) {
  Json value = {{"sample_id", row.cell.repeat - 1},
                {"compiled", AnyCompiled(row)},
                {"correctness", Counts(row)},
                {"metadata", MetadataJson(row, hardware)},
                {"runtime", kNotTimed},
                {"runtime_stats", Json::object()}};
  if (!Counts(row)) return value;
  value["runtime"] = row.paper->candidate->mean;
  value["runtime_stats"] = StatsJson(*row.paper->candidate, hardware);
  return value;
}

// Groups the rows by problem, in the order of the problem numbers.
std::map<int, std::vector<const BenchRow*>> ByProblem(const KernelBenchRun& run) {
  std::map<int, std::vector<const BenchRow*>> problems;
  for (const BenchRow* row : run.rows) problems[row->cell.task.number].push_back(row);
  return problems;
}

// Returns sample 0 of each problem in the form that the metrics take, with the ratio of means as
// its speedup.
std::vector<Score> FirstSamples(const KernelBenchRun& run) {
  std::vector<Score> scores;
  for (const auto& [problem, rows] : ByProblem(run)) {
    const auto first =
        std::ranges::find(rows, 1, [](const BenchRow* row) { return row->cell.repeat; });
    Score score{.task = std::to_string(problem)};
    if (first != rows.end() && Counts(**first)) {
      score.solved = true;
      score.eager = SpeedupByPaper((*first)->paper->eager, (*first)->paper->candidate);
    }
    scores.push_back(score);
  }
  return scores;
}

}  // namespace

int LevelOf(const SuiteTask& task) {
  constexpr std::string_view kLevel = "level";
  if (!task.group.starts_with(kLevel)) return 0;
  int level = 0;
  const char* end = task.group.data() + task.group.size();
  const auto [last, error] = std::from_chars(task.group.data() + kLevel.size(), end, level);
  return error == std::errc() && last == end && level > 0 ? level : 0;
}

std::string SampleFileName(const BenchCell& cell) {
  return fmt::format("level_{}_problem_{}_sample_{}_kernel.py", LevelOf(cell.task),
                     cell.task.number, cell.repeat - 1);
}

std::string AsFolderName(const std::string& name) {
  std::string folder;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    folder += plain || c == '.' || c == '-' || c == '_' ? c : '_';
  }
  if (folder.find_first_not_of('.') == std::string::npos) folder = "_" + folder;
  return folder;
}

Result<void> CheckNumbers(std::span<const SuiteTask> tasks) {
  std::map<std::pair<int, int>, std::string> seen;
  for (const SuiteTask& task : tasks) {
    const auto [known, fresh] = seen.emplace(std::pair(LevelOf(task), task.number), task.name);
    if (!fresh) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("{} and {} both have the number {}, so KernelBench's files cannot "
                              "tell them apart; select with --tasks or a list file",
                              known->second, task.name, task.number));
    }
  }
  return {};
}

std::vector<KernelBenchRun> KernelBenchRuns(std::span<const BenchRow> rows) {
  std::vector<KernelBenchRun> runs;
  std::vector<std::pair<std::string, int>> keys;
  std::set<int> levels;
  for (const BenchRow& row : rows) levels.insert(LevelOf(row.cell.task));
  std::set<std::string> names;
  for (const BenchRow& row : rows) {
    const std::pair key{row.cell.arm, LevelOf(row.cell.task)};
    const auto known = std::ranges::find(keys, key);
    if (known == keys.end()) {
      const std::string suffix = levels.size() > 1 ? fmt::format("_level{}", key.second) : "";
      std::string name = AsFolderName(key.first) + suffix;
      while (!names.insert(name).second) name += "_";
      keys.push_back(key);
      runs.push_back({.name = name, .level = key.second, .rows = {&row}});
    } else {
      runs[static_cast<std::size_t>(known - keys.begin())].rows.push_back(&row);
    }
  }
  return runs;
}

std::string EvalResultsText(const KernelBenchRun& run, const std::string& hardware) {
  Json value = Json::object();
  for (const auto& [problem, rows] : ByProblem(run)) {
    Json samples = Json::array();
    for (const BenchRow* row : rows) samples.push_back(SampleJson(*row, hardware));
    value[std::to_string(problem)] = samples;
  }
  return Dump(value, 4);
}

std::string PassAtKText(const KernelBenchRun& run) {
  const auto problems = ByProblem(run);
  std::size_t most = 1;
  for (const auto& [problem, rows] : problems) most = std::max(most, rows.size());
  std::set<std::size_t> ks{1, most};
  Json value = {
      {"averages", Json::object()}, {"metadata", Json::object()}, {"problems", Json::object()}};
  std::map<std::size_t, double> sums;
  std::size_t samples = 0;
  std::size_t right = 0;
  for (const auto& [problem, rows] : problems) {
    const auto correct = static_cast<std::size_t>(
        std::ranges::count_if(rows, [](const BenchRow* row) { return Counts(*row); }));
    Json entry = {{"total_samples", rows.size()}, {"correct_samples", correct}};
    for (const std::size_t k : ks) {
      const double pass = PassAtK(rows.size(), correct, k);
      entry[fmt::format("pass@{}", k)] = pass;
      sums[k] += pass;
    }
    samples += rows.size();
    right += correct;
    value["problems"][std::to_string(problem)] = entry;
  }
  value["metadata"] = {{"total_problems", problems.size()},
                       {"problems_with_samples", problems.size()},
                       {"total_evaluated_samples", samples},
                       {"total_correct_samples", right}};
  for (const std::size_t k : ks) {
    value["averages"][fmt::format("avg_pass@{}", k)] =
        problems.empty() ? 0 : sums[k] / static_cast<double>(problems.size());
    value["metadata"][fmt::format("pass@{}_count", k)] = problems.size();
  }
  return Dump(value, 2);
}

std::string AnalysisText(const KernelBenchRun& run, const std::string& hardware) {
  const std::vector<Score> scores = FirstSamples(run);
  const Summary summary = Summarise(scores);
  std::size_t compiled = 0;
  for (const BenchRow* row : run.rows)
    compiled += row->cell.repeat == 1 && AnyCompiled(*row) ? 1 : 0;
  const auto share = [&](std::size_t part) {
    return scores.empty() ? 0.0 : static_cast<double>(part) / static_cast<double>(scores.size());
  };
  Json fast = Json::object();
  for (std::size_t i = 0; i < kFastThresholds.size(); ++i)
    fast[fmt::format("{:.1f}", kFastThresholds.at(i))] = summary.fast_eager.at(i);
  Json pass = Json::parse(PassAtKText(run));
  pass.erase("problems");
  const Json value = {{"run_name", run.name},
                      {"level", run.level},
                      {"hardware", hardware},
                      {"total_count", scores.size()},
                      {"total_eval", scores.size()},
                      {"compiled_count", compiled},
                      {"correct_count", summary.solved},
                      {"compilation_rate", share(compiled)},
                      {"correctness_rate", share(summary.solved)},
                      {"geo_mean_speedup", summary.eager.geomean},
                      {"fast_p", fast},
                      {"pass_at_k", pass}};
  return Dump(value, 2);
}

std::string BaselineText(std::span<const BenchRow> rows, BaselineOf baseline,
                         const std::string& hardware) {
  std::map<int, std::map<int, std::pair<std::string, CallTimes>>> levels;
  for (const BenchRow& row : rows) {
    if (!row.paper) continue;
    const std::optional<CallTimes> times =
        baseline == BaselineOf::kEager ? std::optional(row.paper->eager) : row.paper->compile;
    if (!times) continue;
    levels[LevelOf(row.cell.task)].emplace(row.cell.task.number,
                                           std::pair(row.cell.task.name + ".py", *times));
  }
  Json value = Json::object();
  for (const auto& [level, problems] : levels) {
    Json& entries = value["level" + std::to_string(level)] = Json::object();
    for (const auto& [number, entry] : problems)
      entries[entry.first] = StatsJson(entry.second, hardware);
  }
  return Dump(value, 4);
}

std::string BaselineName(BaselineOf baseline) {
  return baseline == BaselineOf::kEager ? "baseline_time_torch_cpu"
                                        : "baseline_time_torch_compile_inductor_default_cpu";
}

}  // namespace pragma
