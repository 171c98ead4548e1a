#include "bench/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/row.h"
#include "core/evaluation.h"
#include "core/search_tree.h"
#include "core/trial.h"

namespace pragma {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

Score Solved(const std::string& task, double eager, std::optional<double> compile = {}) {
  return {.task = task,
          .category = "matmul",
          .sound = true,
          .solved = true,
          .eager = eager,
          .compile = compile};
}

Score Failed(const std::string& task, const std::string& category = "matmul") {
  return {.task = task, .category = category, .sound = true};
}

// Returns attempts with 100 tokens each. A value of 0 is a failed attempt, any other value is the
// best so far.
std::vector<CurvePoint> Curve(const std::vector<double>& best) {
  std::vector<CurvePoint> curve;
  double last = 0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (best[i] > 0) last = best[i];
    curve.push_back({.attempt = static_cast<int>(i) + 1,
                     .status = best[i] > 0 ? Status::kPassed : Status::kWrongValues,
                     .tokens = 100 * (static_cast<std::int64_t>(i) + 1),
                     .best = last > 0 ? std::optional(last) : std::nullopt});
  }
  return curve;
}

TEST(Means, OfThreeRatios) {
  const Means means = MeansOf(std::vector<double>{0.5, 2, 8});
  EXPECT_DOUBLE_EQ(means.mean, 3.5);
  EXPECT_DOUBLE_EQ(means.geomean, 2);  // the cube root of 8
  EXPECT_DOUBLE_EQ(means.median, 2);
  EXPECT_EQ(MeansOf({}).count, 0U);
}

TEST(FastP, FailuresStandInTheDenominatorAndTheThresholdIsStrict) {
  const std::vector<Score> scores{Solved("a", 0.5), Solved("b", 1.0), Solved("c", 1.6),
                                  Failed("d")};
  const auto fast = [&](double threshold) { return FastP(scores, &Score::eager, threshold); };
  EXPECT_DOUBLE_EQ(fast(0), 0.75);  // the success rate
  EXPECT_DOUBLE_EQ(fast(0.5), 0.5);
  EXPECT_DOUBLE_EQ(fast(1), 0.25);
  EXPECT_DOUBLE_EQ(fast(2), 0);
  EXPECT_DOUBLE_EQ(FastP({}, &Score::eager, 1), 0);
}

TEST(Summary, MeansOverSolvedAndWithFailuresAsOne) {
  const std::vector<Score> scores{Solved("a", 4, 2), Solved("b", 0.25), Failed("c"), Failed("d")};
  const Summary summary = Summarise(scores);
  EXPECT_DOUBLE_EQ(summary.success, 0.5);
  EXPECT_DOUBLE_EQ(summary.eager.mean, 2.125);
  EXPECT_DOUBLE_EQ(summary.eager.geomean, 1);
  EXPECT_EQ(summary.eager_fallback.count, 4U);
  EXPECT_DOUBLE_EQ(summary.eager_fallback.mean, 6.25 / 4);
  EXPECT_DOUBLE_EQ(summary.eager_fallback.median, 1);
  EXPECT_EQ(summary.compile.count, 1U);
  EXPECT_DOUBLE_EQ((*summary.fast_compile)[3], 0.25);
}

TEST(Summary, WithoutACompileBaselineThereAreNoSharesAgainstIt) {
  EXPECT_FALSE(Summarise(std::vector{Solved("a", 4)}).fast_compile);
}

TEST(Summary, ByCategoryAndSoundAlone) {
  std::vector<Score> scores{Solved("a", 2), Failed("b", "activation"), Failed("c", "activation")};
  scores[0].sound = false;
  const auto categories = SummariseCategories(scores);
  EXPECT_DOUBLE_EQ(categories.at("matmul").success, 1);
  EXPECT_EQ(categories.at("activation").cells, 2U);
  EXPECT_EQ(SoundAlone(scores).size(), 2U);
}

TEST(Rates, CountAttemptsOfAllRunsTogether) {
  Score first = Failed("a");
  first.curve = Curve({0, 1.5, 0});
  first.curve[0].status = Status::kCompileError;
  Score second = Failed("b");
  second.curve = Curve({0});
  second.curve[0].status = Status::kUnsupported;
  EXPECT_EQ(Summarise(std::vector{first, second}).tokens, 400);  // 300 and 100
  const AttemptRates rates = RatesOf(std::vector{first, second});
  EXPECT_EQ(rates.attempts, 4U);
  EXPECT_DOUBLE_EQ(rates.compiled, 0.5);
  EXPECT_DOUBLE_EQ(rates.correct, 0.25);
}

TEST(PassAtK, IsTheUnbiasedEstimator) {
  EXPECT_DOUBLE_EQ(PassAtK(4, 1, 1), 0.25);
  EXPECT_DOUBLE_EQ(PassAtK(4, 1, 2), 0.5);    // 1 - C(3,2)/C(4,2) = 1 - 3/6
  EXPECT_NEAR(PassAtK(5, 2, 3), 0.9, 1e-12);  // 1 - C(3,3)/C(5,3) = 1 - 1/10
  EXPECT_DOUBLE_EQ(PassAtK(5, 3, 3), 1);      // fewer failures than draws
  EXPECT_DOUBLE_EQ(PassAtK(5, 0, 5), 0);
  EXPECT_DOUBLE_EQ(PassAtK(2, 1, 10), 1);  // k counts as n
  EXPECT_DOUBLE_EQ(PassAtK(0, 0, 1), 0);
}

TEST(PassAtK, OverRepeatsAndOverAttempts) {
  std::vector<Score> scores{Solved("a", 2), Failed("a"), Failed("b"), Failed("b")};
  EXPECT_DOUBLE_EQ(*PassOverRepeats(scores, 1), 0.25);
  EXPECT_DOUBLE_EQ(*PassOverRepeats(scores, 2), 0.5);
  EXPECT_FALSE(PassOverRepeats(scores, 3));
  scores.resize(2);
  scores[0].curve = Curve({1.5, 0, 0, 0});
  scores[1].curve = Curve({0, 0});
  EXPECT_DOUBLE_EQ(PassOverAttempts(scores, 2), 0.25);  // (1/2 + 0) / 2
}

TEST(BestSoFar, ARunThatHasEndedKeepsWhatItHad) {
  std::vector<Score> scores{Failed("a"), Failed("b")};
  scores[0].curve = Curve({0, 4});
  scores[1].curve = Curve({1, 0, 0, 16});
  const std::vector<std::int64_t> grid = GridFor(scores, GridOf::kAttempts);
  EXPECT_THAT(grid, ElementsAre(1, 2, 3, 4));
  const std::vector<GridPoint> points = BestSoFar(scores, GridOf::kAttempts, grid);
  EXPECT_DOUBLE_EQ(points[0].solved, 0.5);
  EXPECT_DOUBLE_EQ(points[0].geomean_fallback, 1);
  EXPECT_DOUBLE_EQ(points[1].geomean_fallback, 2);  // sqrt(4 * 1)
  EXPECT_DOUBLE_EQ(points[3].geomean_fallback, 8);  // sqrt(4 * 16)
  const std::vector<GridPoint> tokens =
      BestSoFar(scores, GridOf::kTokens, std::vector<std::int64_t>{99, 200, 400});
  EXPECT_DOUBLE_EQ(tokens[0].solved, 0);
  EXPECT_DOUBLE_EQ(tokens[1].geomean_fallback, 2);
  EXPECT_DOUBLE_EQ(tokens[2].geomean_fallback, 8);
}

TEST(Grid, OfTokensHasTwentyStepsAndEndsAtTheLast) {
  Score score = Failed("a");
  score.curve = Curve({0});
  score.curve[0].tokens = 1'000'003;
  const std::vector<std::int64_t> grid = GridFor(std::vector{score}, GridOf::kTokens);
  EXPECT_EQ(grid.size(), 20U);
  EXPECT_EQ(grid.back(), 1'000'003);
  score.curve[0].tokens = 0;
  EXPECT_TRUE(GridFor(std::vector{score}, GridOf::kTokens).empty());
}

// The log ratios of tasks a, b, c are ln 2, ln 2, ln 8 (solved by the first, not by the second).
// Mean ln(32)/3, deviations -0.4621, -0.4621, 0.9242, standard error 0.4621, t(2) = 4.303.
TEST(PairedComparison, FailuresAsOneAndTheTIntervalOverTasks) {
  const std::vector<Score> first{Solved("a", 4), Solved("b", 2), Solved("c", 8)};
  const std::vector<Score> second{Solved("a", 2), Failed("b"), Failed("c"), Solved("d", 9)};
  const PairedComparison pair = ComparePaired(first, second);
  EXPECT_EQ(pair.tasks, 3U);  // d is not shared
  EXPECT_EQ(pair.first_ahead, 3U);
  EXPECT_EQ(pair.second_ahead, 0U);
  const double centre = std::log(32.0) / 3;
  EXPECT_NEAR(std::log(pair.fallback->median), centre, 1e-12);
  EXPECT_NEAR(std::log(pair.fallback->low), centre - 4.303 * 0.46210, 1e-3);
  EXPECT_NEAR(std::log(pair.fallback->high), centre + 4.303 * 0.46210, 1e-3);
  EXPECT_EQ(pair.solved_by_both, 1U);
  EXPECT_DOUBLE_EQ(pair.solved->median, 2);
  EXPECT_EQ(pair.solved->high, std::numeric_limits<double>::infinity());
}

TEST(PairedComparison, RepeatsAreAveragedWithinATaskFirst) {
  const std::vector<Score> first{Solved("a", 16), Failed("a")};  // sqrt(16 * 1) = 4
  const std::vector<Score> second{Solved("a", 2)};
  const PairedComparison pair = ComparePaired(first, second);
  EXPECT_EQ(pair.tasks, 1U);
  EXPECT_NEAR(pair.fallback->median, 2, 1e-12);
  EXPECT_NEAR(pair.solved->median, 8, 1e-12);  // only the solved repeat counts
  EXPECT_FALSE(ComparePaired(first, std::vector<Score>{}).fallback);
}

TEST(Curve, SumsUpWhatWasSpentAndKeepsTheBest) {
  SearchTree tree;
  const auto add = [&tree](Status status, std::optional<double> best) {
    Trial trial{.node = tree.next_node(), .best = best.has_value()};
    trial.evaluation.status = status;
    if (best) trial.evaluation.speedup_eager = Interval{*best, *best, *best};
    trial.spent = {.seconds = 1, .tokens_in = 10, .tokens_out = 5, .usd = 0.5};
    tree.Insert(trial);
  };
  add(Status::kCompileError, {});
  add(Status::kPassed, 1.5);
  add(Status::kWrongValues, {});
  const std::vector<CurvePoint> curve = CurveOf(tree);
  ASSERT_EQ(curve.size(), 3U);
  EXPECT_FALSE(curve[0].best);
  EXPECT_EQ(curve[2].tokens, 45);
  EXPECT_DOUBLE_EQ(curve[2].usd, 1.5);
  EXPECT_THAT(*curve[2].best, DoubleNear(1.5, 1e-12));
}

TEST(Score, OfARowThatFailedHasNoRatios) {
  BenchRow row{.cell = {.task = {.name = "n", .group = "g"}}, .problem = "no Model"};
  const Score score = ScoreOf(row);
  EXPECT_EQ(score.task, "g/n");
  EXPECT_EQ(score.category, "unknown");
  EXPECT_TRUE(score.task_error);
  EXPECT_FALSE(score.sound);
  row.problem.clear();
  row.best = Evaluation{.status = Status::kWrongValues};
  row.best->speedup_eager = Interval{2, 2, 2};
  EXPECT_FALSE(ScoreOf(row).eager);
}

}  // namespace
}  // namespace pragma
