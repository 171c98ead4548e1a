#include "verify/timing_plan.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "base/clock.h"
#include "verify/stage.h"

namespace pragma {
namespace {

TEST(MakePlanTest, ShortCallsFillABurstWithManySets) {
  const TimingPlan plan =
      MakePlan({.sets = 64, .round_seconds = 20e-6, .upkeep_seconds = 50e-6}, Seconds{1});
  EXPECT_EQ(plan.processes, 10);
  EXPECT_EQ(plan.warmup, 2U);
  EXPECT_EQ(plan.timed, 62U);
  EXPECT_EQ(plan.bursts, 12);
}

TEST(MakePlanTest, OnADeviceFewerProcessesAndLongerBursts) {
  Workload workload{.sets = 64, .round_seconds = 0.2e-3, .upkeep_seconds = 1e-3};
  const TimingPlan host = MakePlan(workload, Seconds{5});
  workload.on_device = true;
  const TimingPlan device = MakePlan(workload, Seconds{5});
  EXPECT_EQ(host.processes, 10);
  EXPECT_EQ(device.processes, 5);
  EXPECT_GE(device.timed, 50U);  // about 5 ms of calls
}

// A product of 4096 x 4096: its sets take far longer to renew and to compare than a call takes.
TEST(MakePlanTest, OnADeviceTheLatencyOfTheFirstLaunchIsSharedByManyCalls) {
  const TimingPlan plan =
      MakePlan({.sets = 32, .round_seconds = 0.4e-3, .upkeep_seconds = 18e-3, .on_device = true},
               Seconds{3});
  EXPECT_GE(plan.timed, 15U);
  EXPECT_GE(plan.bursts, 2);
}

TEST(MakePlanTest, CallsOfAMillisecondGetTheMostBursts) {
  const TimingPlan plan =
      MakePlan({.sets = 64, .round_seconds = 2e-3, .upkeep_seconds = 1e-3}, Seconds{1});
  EXPECT_EQ(plan.processes, 5);
  EXPECT_EQ(plan.timed, 2U);
  EXPECT_EQ(plan.bursts, 12);
}

TEST(MakePlanTest, ABurstOfShortCallsIsNeverTooShortForTheAuditOfWorkAhead) {
  for (double round = 1e-6; round <= 1e-3; round *= 1.3) {
    const TimingPlan plan =
        MakePlan({.sets = 64, .round_seconds = round, .upkeep_seconds = 1e-3}, Seconds{1});
    EXPECT_GE(plan.timed, 4U) << round;
  }
}

TEST(MakePlanTest, CallsOfSecondsRunOnceInEachProcess) {
  const TimingPlan plan =
      MakePlan({.sets = 2, .round_seconds = 10, .upkeep_seconds = 5}, Seconds{1});
  EXPECT_EQ(plan.warmup, 0U);
  EXPECT_EQ(plan.timed, 1U);
  EXPECT_EQ(plan.bursts, 1);
}

TEST(MakePlanTest, OnlyTheLongestCallsAreTimedWithoutAFirstOne) {
  EXPECT_TRUE(MakePlan({.sets = 3, .round_seconds = 0.7}, Seconds{3}).first_calls);
  EXPECT_FALSE(MakePlan({.sets = 3, .round_seconds = 20}, Seconds{3}).first_calls);
  EXPECT_FALSE(MakePlan({.sets = 1, .round_seconds = 0.7}, Seconds{3}).first_calls);
}

TEST(MakePlanTest, OneSetIsTimedOnceInABurst) {
  for (const double round : {1e-4, 1e-2, 1.0}) {
    const TimingPlan plan =
        MakePlan({.sets = 1, .round_seconds = round, .cache = CacheState::kCold, .on_device = true},
                 Seconds{1});
    EXPECT_EQ(plan.warmup, 0U);
    EXPECT_EQ(plan.timed, 1U);
    EXPECT_GE(plan.bursts, 1);
  }
}

TEST(MakePlanTest, NeverVisitsMoreSetsThanTheRingHas) {
  for (const std::size_t sets : {2U, 3U, 5U, 6U, 8U, 64U}) {
    for (double round = 1e-6; round < 20; round *= 3) {
      const TimingPlan plan = MakePlan({.sets = sets, .round_seconds = round}, Seconds{1});
      EXPECT_LE(plan.sets(), sets) << round;
      EXPECT_GE(plan.timed, 1U);
      EXPECT_GE(plan.bursts, 1);
      EXPECT_LE(plan.bursts, 12);
    }
  }
}

TEST(MakePlanTest, CallsOfAUserAreLoopsOverASingleSet) {
  for (const double round : {1e-5, 1e-3, 0.2}) {
    const TimingPlan plan =
        MakePlan({.sets = 64, .round_seconds = round, .as_call = true}, Seconds{1});
    EXPECT_EQ(plan.timed, 1U);
    EXPECT_EQ(plan.warmup, 1U);
    EXPECT_GT(plan.loop_seconds, 5e-3);
    EXPECT_GE(plan.bursts, 1);
  }
}

TEST(MakePlanTest, ColdBurstsVisitTheWholeRing) {
  const TimingPlan plan = MakePlan(
      {.sets = 40, .round_seconds = 2e-3, .upkeep_seconds = 1e-3, .cache = CacheState::kCold},
      Seconds{1});
  EXPECT_EQ(plan.sets(), 40U);
}

}  // namespace
}  // namespace pragma
