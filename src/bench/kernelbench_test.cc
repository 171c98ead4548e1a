#include "bench/kernelbench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/row.h"
#include "bench/suite.h"
#include "core/evaluation.h"
#include "verify/paper_timing.h"

namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

SuiteTask TaskOf(int number, const std::string& group = "level1") {
  return {.name = std::to_string(number) + "_Task", .group = group, .number = number};
}

// Eager takes 10 ms. If `ms` is 0, no attempt passed.
BenchRow RowOf(int number, double ms, int repeat = 1, const std::string& group = "level1") {
  BenchRow row{
      .cell = {
          .task = TaskOf(number, group), .strategy = "pragma", .repeat = repeat, .arm = "pragma"}};
  row.curve = {{.attempt = 1, .status = ms > 0 ? Status::kPassed : Status::kCompileError}};
  row.paper = PaperTiming{.eager = {.mean = 10, .std = 1, .min = 9, .max = 12, .trials = 100}};
  if (ms > 0) {
    row.best = Evaluation{.status = Status::kPassed};
    row.paper->candidate = CallTimes{.mean = ms, .std = 0.1, .min = ms, .max = ms, .trials = 100};
  }
  return row;
}

std::vector<std::string> KeysOf(const Json& value) {
  std::vector<std::string> keys;
  for (const auto& [key, ignored] : value.items()) keys.push_back(key);
  return keys;
}

TEST(KernelBench, NamesOfSamplesAndFolders) {
  EXPECT_EQ(SampleFileName(RowOf(23, 1, 3).cell), "level_1_problem_23_sample_2_kernel.py");
  EXPECT_EQ(LevelOf(TaskOf(1, "level12")), 12);
  for (const char* group : {"matmul", "level", "level2b", "level0"})
    EXPECT_EQ(LevelOf(TaskOf(1, group)), 0) << group;
  EXPECT_EQ(AsFolderName("pragma @ openai:a/b"), "pragma___openai_a_b");
  EXPECT_EQ(AsFolderName(".."), "_..");
}

TEST(KernelBench, TwoTasksWithOneNumberAreTold) {
  EXPECT_TRUE(CheckNumbers(std::vector{TaskOf(1), TaskOf(1, "level2")}));
  const auto wrong = CheckNumbers(std::vector{TaskOf(1, "a"), TaskOf(1, "b")});
  EXPECT_THAT(wrong.error().message, HasSubstr("both have the number 1"));
}

TEST(KernelBench, EvalResultsHaveASampleForEachRepeatInNumericOrder) {
  const std::vector<BenchRow> rows{RowOf(10, 5), RowOf(2, 0), RowOf(2, 4, 2)};
  const std::vector<KernelBenchRun> runs = KernelBenchRuns(rows);
  ASSERT_EQ(runs.size(), 1U);
  const Json value = Json::parse(EvalResultsText(runs[0], "A CPU"));
  EXPECT_THAT(KeysOf(value), ElementsAre("2", "10"));
  const Json& failed = value["2"][0];
  EXPECT_THAT(KeysOf(failed), ElementsAre("sample_id", "compiled", "correctness", "metadata",
                                          "runtime", "runtime_stats"));
  EXPECT_EQ(failed["compiled"], false);
  EXPECT_EQ(failed["runtime"], -1.0);
  EXPECT_THAT(failed["metadata"]["compilation_error"], HasSubstr("compile_error"));
  const Json& good = value["2"][1];
  EXPECT_EQ(good["sample_id"], 1);
  EXPECT_EQ(good["correctness"], true);
  EXPECT_EQ(good["runtime"], 4.0);
  EXPECT_THAT(KeysOf(good["runtime_stats"]),
              ElementsAre("mean", "std", "min", "max", "num_trials", "hardware", "device"));
}

TEST(KernelBench, WhatWasNotTimedIsNotCorrectThere) {
  BenchRow row = RowOf(1, 5);
  row.paper->candidate.reset();
  row.paper->failure = "timed out";
  const std::vector<BenchRow> rows{row};
  const Json value = Json::parse(EvalResultsText(KernelBenchRuns(rows)[0], "A CPU"));
  EXPECT_EQ(value["1"][0]["correctness"], false);
  EXPECT_EQ(value["1"][0]["metadata"]["error_during_performance"], "timed out");
}

TEST(KernelBench, SeveralLevelsHaveARunFolderEach) {
  const std::vector<BenchRow> rows{RowOf(1, 5), RowOf(1, 5, 1, "level2")};
  const std::vector<KernelBenchRun> runs = KernelBenchRuns(rows);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].name, "pragma_level1");
  EXPECT_EQ(runs[1].name, "pragma_level2");
}

TEST(KernelBench, AnalysisCountsSampleZeroOfEveryTask) {
  const std::vector<BenchRow> rows{RowOf(1, 5), RowOf(2, 20), RowOf(3, 0), RowOf(3, 1, 2)};
  const Json value = Json::parse(AnalysisText(KernelBenchRuns(rows)[0], "A CPU"));
  EXPECT_EQ(value["total_count"], 3);
  EXPECT_EQ(value["correct_count"], 2);
  EXPECT_DOUBLE_EQ(value["geo_mean_speedup"], 1);     // sqrt(2 * 0.5)
  EXPECT_DOUBLE_EQ(value["fast_p"]["0.5"], 1.0 / 3);  // strictly above
  EXPECT_DOUBLE_EQ(value["fast_p"]["1.0"], 1.0 / 3);
  EXPECT_EQ(value["pass_at_k"]["metadata"]["total_evaluated_samples"], 4);
}

TEST(KernelBench, PassAtKOfProblems) {
  const std::vector<BenchRow> rows{RowOf(1, 5), RowOf(1, 0, 2), RowOf(2, 0), RowOf(2, 0, 2)};
  const Json value = Json::parse(PassAtKText(KernelBenchRuns(rows)[0]));
  EXPECT_DOUBLE_EQ(value["problems"]["1"]["pass@1"], 0.5);
  EXPECT_DOUBLE_EQ(value["problems"]["1"]["pass@2"], 1);
  EXPECT_DOUBLE_EQ(value["averages"]["avg_pass@1"], 0.25);
  EXPECT_EQ(value["metadata"]["pass@2_count"], 2);
}

TEST(KernelBench, ABaselineHasEveryMeasuredTaskByFileName) {
  std::vector<BenchRow> rows{RowOf(10, 5), RowOf(2, 0), RowOf(3, 0)};
  rows[2].paper.reset();
  const Json value = Json::parse(BaselineText(rows, BaselineOf::kEager, "A CPU"));
  EXPECT_THAT(KeysOf(value["level1"]), ElementsAre("2_Task.py", "10_Task.py"));
  EXPECT_EQ(value["level1"]["2_Task.py"]["mean"], 10.0);
  EXPECT_EQ(Json::parse(BaselineText(rows, BaselineOf::kCompile, "A CPU")).size(), 0U);
}

}  // namespace
}  // namespace pragma
