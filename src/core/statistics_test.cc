#include "core/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace pragma {
namespace {

TEST(MedianTest, TakesTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(Median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(Median(std::vector<double>{4, 1, 2, 3}), 2.5);
}

TEST(StudentTest, AgreesWithTablesAndApproachesTheNormal) {
  EXPECT_DOUBLE_EQ(StudentT975(4), 2.776);
  EXPECT_NEAR(StudentT975(30), 2.042, 0.002);
  EXPECT_NEAR(StudentT975(1000), 1.962, 0.001);
}

TEST(GeometricIntervalTest, OneValueHasNoInterval) {
  const Interval interval = GeometricInterval(std::vector<double>{std::log(2.0)});
  EXPECT_DOUBLE_EQ(interval.median, 2);
  EXPECT_EQ(interval.low, 0);
  EXPECT_TRUE(std::isinf(interval.high));
}

TEST(GeometricIntervalTest, CoversTheTruthNinetyFivePercentOfTheTime) {
  Rng rng({1, 2});
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(1 - rng.Uniform())) *
           std::cos(6.283185307179586 * rng.Uniform());
  };
  int covered = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> logs;
    for (int i = 0; i < 5; ++i) logs.push_back(0.1 + 0.02 * normal());
    const Interval interval = GeometricInterval(logs);
    if (interval.low <= std::exp(0.1) && std::exp(0.1) <= interval.high) ++covered;
  }
  EXPECT_NEAR(covered / static_cast<double>(kRounds), 0.95, 0.015);
}

TEST(IntervalTest, TheWidthIsRelativeAndInfiniteWithoutALowerEnd) {
  EXPECT_NEAR(RelativeWidth({1, 0.8, 1.2}), 0.5, 1e-12);
  EXPECT_TRUE(std::isinf(RelativeWidth({1, 0, 2})));
}

TEST(IntervalTest, IntervalsThatTouchOverlap) {
  EXPECT_TRUE(Overlap({1, 0.9, 1.1}, {1.2, 1.1, 1.3}));
  EXPECT_FALSE(Overlap({1, 0.9, 1.1}, {1.3, 1.2, 1.4}));
}

}  // namespace
}  // namespace pragma
