#include "bench/extras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/given.h"
#include "bench/loop.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/row.h"
#include "bench/solutions.h"
#include "bench/suite.h"
#include "core/evaluation.h"
#include "core/trial.h"
#include "verify/paper_timing.h"

namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

TEST(PaperTimingText, ReadsBackAndTurnsWrongTextAway) {
  PaperTiming timing{.eager = {.mean = 2, .std = 0.5, .min = 1, .max = 3, .trials = 100}};
  timing.candidate = CallTimes{.mean = 1};
  timing.failure = "no compile";
  const PaperTiming read = ReadPaperTiming(PaperTimingText(timing)).value();
  EXPECT_EQ(read.eager.trials, 100);
  EXPECT_DOUBLE_EQ(read.eager.std, 0.5);
  EXPECT_DOUBLE_EQ(read.candidate->mean, 1);
  EXPECT_FALSE(read.compile);
  EXPECT_EQ(read.failure, "no compile");
  for (const char* wrong : {"", "[]", "{}", R"({"eager": 3})"})
    EXPECT_FALSE(ReadPaperTiming(wrong)) << wrong;
  EXPECT_EQ(ReadPaperTiming(R"({"eager": {"mean": "x"}, "failure": 1})")->eager.mean, 0);
}

TEST(GivenCells, ATaskWithoutASolutionGetsACellToo) {
  const std::vector<SuiteTask> tasks{{.path = "1", .name = "one"}, {.path = "2", .name = "two"}};
  GivenSolutions given{.found = {}, .sets = {"a", "b"}, .unmatched = {}};
  given.found.push_back({.task = tasks[0], .set = "a", .sample = 0, .path = "x"});
  given.found.push_back({.task = tasks[0], .set = "a", .sample = 2, .path = "y"});
  std::vector<std::string> names;
  for (const BenchCell& cell : CellsOfGiven(given, tasks))
    names.push_back(cell.task.name + "/" + cell.arm + "/" + std::to_string(cell.repeat));
  EXPECT_THAT(names, ElementsAre("one/a/1", "one/a/3", "one/b/1", "two/a/1", "two/b/1"));
}

BenchRow RowOf(const std::string& task, const std::string& arm, const std::string& lint,
               std::optional<double> speedup) {
  BenchRow row{
      .cell = {.task = {.name = task}, .strategy = arm, .arm = arm}, .run = "r", .lint = lint};
  if (!speedup) return row;
  row.best = Evaluation{.status = Status::kPassed};
  row.best->speedup_eager = Interval{*speedup, *speedup, *speedup};
  return row;
}

class BenchReport : public ::testing::Test {
 protected:
  BenchFrame frame_{.arms = {{.name = "a", .strategy = "a"}, {.name = "b", .strategy = "b"}},
                    .budget = "attempts: 3 for every run"};
  BenchResult result_{.rows = {RowOf("x", "a", "sound", 4), RowOf("x", "b", "sound", 2),
                               RowOf("y", "a", "weak", {}), RowOf("y", "b", "weak", 3)}};
};

TEST_F(BenchReport, AllTasksAndSoundOnesAloneAreSummedUpApart) {
  const Json value = Json::parse(BenchObject(frame_, result_));
  const Json& arm = value["strategies"]["a"];
  EXPECT_EQ(arm["success"], 0.5);
  EXPECT_EQ(arm["geomean"], 4.0);
  EXPECT_EQ(arm["geomean_fallback"], 2.0);
  EXPECT_EQ(arm["sound"]["success"], 1.0);
  EXPECT_EQ(arm["fast_p"]["1.0"], 0.5);
  const Json& pair = value["comparisons"][0];
  EXPECT_EQ(pair["tasks"], 2);
  EXPECT_EQ(pair["solved_by_both"], 1);
  EXPECT_EQ(pair["sound"]["ratio_fallback"]["geomean"], 2.0);
  EXPECT_TRUE(pair["sound"]["ratio_fallback"]["ci95"].is_null());  // there is only one task
}

TEST_F(BenchReport, AnArmWithoutRowsHasNoFigures) {
  result_.rows.resize(1);
  const Json value = Json::parse(BenchObject(frame_, result_));
  EXPECT_EQ(value["strategies"]["b"]["runs"], 0);
  EXPECT_TRUE(value["strategies"]["b"]["mean"].is_null());
  EXPECT_TRUE(value["comparisons"][0]["ratio_fallback"].is_null());
}

TEST_F(BenchReport, ThePapersFiguresStandInATableOfTheirOwn) {
  EXPECT_THAT(BenchText({}, frame_, result_), Not(HasSubstr("paper")));
  result_.rows[0].paper = PaperTiming{.candidate = CallTimes{.mean = 2}, .eager = {.mean = 3}};
  const std::string text = BenchText({}, frame_, result_);
  EXPECT_THAT(text, HasSubstr("By the paper's protocol"));
  EXPECT_THAT(text, HasSubstr("1.50x"));
  const Json value = Json::parse(BenchObject(frame_, result_));
  EXPECT_EQ(value["strategies"]["a"]["paper_timing"]["mean"], 1.5);
  EXPECT_EQ(value["tasks"][0]["paper_timing"]["speedup_eager"], 1.5);
  EXPECT_TRUE(value["tasks"][1]["paper_timing"].is_null());
}

TEST_F(BenchReport, WhatWasNotBegunIsSaid) {
  result_.not_begun = {{.task = {.name = "z"}, .strategy = "a", .arm = "a"}};
  EXPECT_THAT(BenchText({}, frame_, result_), HasSubstr("1 runs were not begun"));
  EXPECT_EQ(Json::parse(BenchObject(frame_, result_))["not_begun"][0], "z, a");
}

}  // namespace
}  // namespace pragma
