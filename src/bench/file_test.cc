#include "bench/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/trial.h"
#include "core/trial_summary.h"
#include "report/bench_page.h"

// Dereferencing a missing value may end a test.
// NOLINTBEGIN(bugprone-unchecked-optional-access)
namespace pragma {
namespace {

using ::testing::HasSubstr;

TEST(BenchFile, ReadsWhatBenchPrints) {
  const BenchReport report = ParseBenchReport(R"({"schema":1,"interrupted":true,"tasks":[{
      "task":"a","group":"g","strategy":"s","run":"r","passed":true,"attempts":3,"stopped":"budget",
      "problem":"","spent":{"seconds":1.5,"tokens":7,"usd":0.25},"lint":"degenerate","model":"m",
      "repeat":2,"best":{"speedup":{"eager":{"median":2.0,"ci95":[1.5,2.5]},"compile":null}},
      "curve":[{"attempt":1,"tokens":3,"best":null},{"attempt":2,"tokens":7,"best":2.0}]}]})",
                                              "f")
                                 .value();
  ASSERT_EQ(report.rows.size(), 1U);
  const BenchReportRow& row = report.rows[0];
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(row.category, "g");  // without a category it is the suite's group
  EXPECT_EQ(row.lint, "degenerate");
  EXPECT_EQ(row.repeat, 2);
  EXPECT_EQ(row.tokens, 7);
  EXPECT_EQ(row.eager->low, 1.5);
  EXPECT_FALSE(row.compile);
  ASSERT_EQ(row.curve.size(), 2U);
  EXPECT_FALSE(row.curve[0].best);
  EXPECT_EQ(*row.curve[1].best, 2.0);
}

TEST(BenchFile, AnUnsolvedTaskHasNoSpeedup) {
  const BenchReport report =
      ParseBenchReport(R"({"tasks":[{"task":"a","strategy":"s","best":null}]})", "f").value();
  EXPECT_FALSE(report.rows[0].eager);
  EXPECT_FALSE(report.rows[0].passed);
}

TEST(BenchFile, OtherFilesAreRefusedWithTheirName) {
  for (const char* text : {"", "no json", "[]", "{}", R"({"tasks":[{"task":"a"}]})",
                           R"({"tasks":[{"task":1,"strategy":"s"}]})"}) {
    const Result<BenchReport> report = ParseBenchReport(text, "the-file");
    ASSERT_FALSE(report) << text;
    EXPECT_THAT(report.error().message, HasSubstr("the-file")) << text;
  }
}

TEST(BenchFile, CurveKeepsTheBestAndAddsUpTokens) {
  Trial first{.node = 1};
  first.spent.tokens_in = 10;
  Trial second{.node = 2, .best = true};
  second.evaluation.speedup_eager = Interval{2, 1, 3};
  second.spent.tokens_out = 5;
  const std::vector<BestMark> curve = CurveOf(Summarize({first, second, Trial{.node = 3}}));
  EXPECT_FALSE(curve[0].best);
  EXPECT_EQ(curve[0].tokens, 10);
  EXPECT_EQ(*curve[2].best, 2);
  EXPECT_EQ(curve[2].tokens, 15);
}

}  // namespace
}  // namespace pragma
// NOLINTEND(bugprone-unchecked-optional-access)
