#include "verify/noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace pragma {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A turn of a second in which one side used a processor, and nothing else ran.
Watched QuietSecond() {
  return {.before = {.busy_seconds = 10, .own_seconds = 3},
          .after = {.busy_seconds = 11.01, .own_seconds = 3.01},
          .seconds = 1,
          .side_seconds = 1};
}

TEST(DisturbedTest, ASideAndPragmaItselfAreNotOthers) {
  EXPECT_NEAR(OthersSeconds(QuietSecond()), 0, 1e-9);
  EXPECT_FALSE(Disturbed(QuietSecond(), 0));
}

TEST(DisturbedTest, ProcessorTimeOfOthersDisturbs) {
  Watched watched = QuietSecond();
  watched.after.busy_seconds += 0.5;
  EXPECT_TRUE(Disturbed(watched, 0));
  EXPECT_FALSE(Disturbed(watched, 1));  // a processor is free for them
}

TEST(DisturbedTest, OneTickMoreIsNoDisturbance) {
  Watched watched = QuietSecond();
  watched.seconds = 1e-3;
  watched.after.busy_seconds += 0.01;
  EXPECT_FALSE(Disturbed(watched, 0));
}

TEST(DisturbedTest, WhoWantsAProcessorBeforeOrAfterwardsDisturbs) {
  Watched before = QuietSecond();
  before.before.runnable = 1;
  EXPECT_TRUE(Disturbed(before, 0));
  EXPECT_FALSE(Disturbed(before, 1));
  Watched after = QuietSecond();
  after.after.runnable = 1;
  EXPECT_TRUE(Disturbed(after, 0));
}

TEST(DisturbedTest, AHypervisorThatTakesProcessorsDisturbs) {
  Watched watched = QuietSecond();
  watched.after.steal_seconds = 0.4;
  EXPECT_TRUE(Disturbed(watched, 1));
}

TEST(LoadTest, FiguresAreMeansOverTheTurns) {
  Watched turn = QuietSecond();
  turn.after.busy_seconds += 0.5;
  turn.after.steal_seconds = 0.1;
  turn.before.pressure_seconds = 2;
  turn.after.pressure_seconds = 2.25;
  turn.before.mhz = 3000;
  LoadSum sum;
  sum.Add(turn);
  turn.before.mhz = 2000;
  sum.Add(turn);
  sum.EndRound({true, false});
  sum.EndRound({false, false});
  const Load load = sum.Mean(2);
  EXPECT_NEAR(load.others, 0.5, 1e-9);
  EXPECT_NEAR(load.steal, 0.1, 1e-9);
  ASSERT_TRUE(load.pressure);
  EXPECT_NEAR(*load.pressure, 0.25, 1e-9);
  EXPECT_EQ(load.mhz_low, 2000);
  EXPECT_EQ(load.mhz_high, 3000);
  EXPECT_EQ(load.bursts, 4U);
  EXPECT_EQ(load.disturbed, 1U);
  EXPECT_EQ(load.rounds, 2U);
  EXPECT_EQ(sum.Mean(0).others, 0);
}

TEST(LoadTest, WhatIsNotReadableIsLeftOut) {
  LoadSum sum;
  sum.Add(QuietSecond());
  EXPECT_EQ(sum.Mean(2).pressure, std::nullopt);
  EXPECT_EQ(sum.Mean(2).mhz_high, 0);
}

TEST(LoadTest, ASessionIsBusyFromOneBurstInTen) {
  EXPECT_FALSE(Busy({.bursts = 100, .disturbed = 10}));
  EXPECT_TRUE(Busy({.bursts = 100, .disturbed = 11}));
  EXPECT_TRUE(Busy({.steal = 0.1, .bursts = 100}));
  EXPECT_FALSE(Busy({}));
}

TEST(LoadTest, TheTextNamesWhatOthersDid) {
  EXPECT_EQ(OthersText({.bursts = 60, .disturbed = 20}),
            "other programs used the processors in 20 of 60 bursts");
  EXPECT_THAT(OthersText({.steal = 0.2, .bursts = 60}), HasSubstr("0.20 processors"));
  EXPECT_THAT(OthersText({.steal = 0.01, .bursts = 60}), Not(HasSubstr("hypervisor")));
}

}  // namespace
}  // namespace pragma
