#include "verify/paper_timing.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace pragma {
namespace {

TEST(CallTimes, MeanAndSampleDeviationInMilliseconds) {
  const CallTimes times = CallTimesOf(std::vector<double>{0.001, 0.002, 0.003});
  EXPECT_DOUBLE_EQ(times.mean, 2);
  EXPECT_NEAR(times.std, 1, 1e-12);
  EXPECT_DOUBLE_EQ(times.min, 1);
  EXPECT_DOUBLE_EQ(times.max, 3);
  EXPECT_EQ(times.trials, 3);
  EXPECT_DOUBLE_EQ(CallTimesOf(std::vector<double>{0.001}).std, 0);
  EXPECT_EQ(CallTimesOf({}).trials, 0);
}

TEST(SpeedupByPaper, IsTheRatioOfMeans) {
  EXPECT_DOUBLE_EQ(*SpeedupByPaper(CallTimes{.mean = 3}, CallTimes{.mean = 2}), 1.5);
  EXPECT_FALSE(SpeedupByPaper(CallTimes{.mean = 3}, std::nullopt));
  EXPECT_FALSE(SpeedupByPaper(std::nullopt, CallTimes{.mean = 2}));
}

}  // namespace
}  // namespace pragma
