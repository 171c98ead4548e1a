// What a timing session does about other programs (docs/measuring.md), with processes whose time is
// a counter.
#include "verify/timing_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/random.h"
#include "verify/noise.h"
#include "verify/testing.h"
#include "verify/testing_executor.h"
#include "verify/timing_plan.h"

namespace pragma {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fakes of this layer
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A candidate against eager, on a machine where another program works whenever `busy` says so. Then
// each call of the candidate takes five times as long.
struct NoisyCase {
  World world;
  FakeSets sets{world};
  Behaviour candidate{.seconds = 1e-3};
  Behaviour eager{.seconds = 2e-3};
  TimingPlan plan{.processes = 5, .bursts = 3, .warmup = 1, .timed = 4};
  BuiltKernel kernel;
  std::function<bool()> busy = [] { return false; };
  NoiseRules noise{.time = Seconds{100}};
  Seconds limit{1e9};

  TimingOutcome Run() {
    noise.read = [this] {
      const bool now = busy();
      candidate.seconds = now ? 5e-3 : 1e-3;
      return LoadReading{.runnable = now ? 1 : 0};
    };
    FakeSides sides(world,
                    {{.role = SideRole::kCandidate, .kernel = &kernel}, {.role = SideRole::kEager}},
                    {&candidate, &eager});
    const TimingScene scene{
        .sets = sets, .sides = sides, .clock = world.clock, .noise = noise, .limit = limit};
    Rng rng{Seed{}};
    return RunTiming(scene, plan, rng).value();
  }
  [[nodiscard]] double Now() const { return Seconds(world.clock.Now() - TimePoint{}).count(); }
  [[nodiscard]] long rounds() const { return world.Count("round"); }
};

TEST(TimingRoundsTest, OnAQuietMachineThePlanIsRun) {
  NoisyCase test;
  const TimingOutcome outcome = test.Run();
  EXPECT_EQ(test.rounds(), 5);
  EXPECT_EQ(outcome.noisy, "");
  EXPECT_EQ(outcome.load.bursts, 15U);
  EXPECT_EQ(outcome.load.disturbed, 0U);
  EXPECT_EQ(outcome.load.waited_seconds, 0);
}

TEST(TimingRoundsTest, ADisturbedBurstIsRepeatedAndDoesNotCount) {
  // A burst has two turns with two readings each. In each round the second burst is disturbed.
  NoisyCase test;
  long round = 0;
  int reading = 0;
  test.busy = [&] {
    if (round != test.rounds()) reading = 0;
    round = test.rounds();
    return ++reading > 4 && reading <= 8;
  };
  const TimingOutcome outcome = test.Run();
  EXPECT_NEAR(outcome.Ratio(1, 0).low, 2, 1e-2);
  EXPECT_NEAR(outcome.Ratio(1, 0).high, 2, 1e-2);
  EXPECT_THAT(outcome.sides[0].seconds, Each(SizeIs(3)));
  EXPECT_EQ(outcome.load.bursts, 4 * outcome.load.disturbed);
  EXPECT_EQ(outcome.noisy, "");
}

TEST(TimingRoundsTest, WhoIsGoneAtASecondLookDoesNotDisturb) {
  NoisyCase test;
  int reading = 0;
  test.busy = [&] { return ++reading % 2 == 1; };
  const TimingOutcome outcome = test.Run();
  EXPECT_EQ(outcome.load.disturbed, 0U);
  EXPECT_EQ(test.rounds(), 5);
}

TEST(TimingRoundsTest, DisturbedProcessPairsAreReplacedAndLeftOut) {
  NoisyCase test;
  test.busy = [&] { return test.rounds() <= 3; };
  const TimingOutcome outcome = test.Run();
  EXPECT_EQ(test.rounds(), 10);
  EXPECT_EQ(outcome.load.rounds, 10U);
  EXPECT_EQ(outcome.load.rounds_left_out, 3U);
  EXPECT_THAT(outcome.sides[0].seconds, SizeIs(7));
  EXPECT_NEAR(outcome.Ratio(1, 0).median, 2, 1e-2);
  EXPECT_EQ(outcome.noisy, "");
}

TEST(TimingRoundsTest, WhereEveryPairIsDisturbedAllCountAndTheResultIsNoisy) {
  NoisyCase test;
  test.busy = [] { return true; };
  const TimingOutcome outcome = test.Run();
  EXPECT_EQ(test.rounds(), 10);
  EXPECT_THAT(outcome.sides[0].seconds, SizeIs(10));
  EXPECT_EQ(outcome.noisy, "other programs used the processors in 30 of 30 bursts");
}

TEST(TimingRoundsTest, PairsAreAddedUntilTheIntervalIsNarrow) {
  // Half of the bursts are disturbed, and undisturbed processes differ by much at first.
  NoisyCase test;
  int reading = 0;
  test.busy = [&] { return ++reading % 16 > 8; };
  test.candidate.kernel = [&](const FakeCall& call) {
    test.eager.seconds = test.rounds() % 2 == 0 && test.rounds() < 10 ? 2.16e-3 : 2e-3;
    return call.input;
  };
  test.noise.width = 0.05;
  const TimingOutcome narrow = test.Run();
  EXPECT_GT(test.rounds(), 10);
  EXPECT_LT(RelativeWidth(narrow.Ratio(1, 0)), 0.05);
  EXPECT_EQ(narrow.noisy, "");
}

TEST(TimingRoundsTest, AWideIntervalOfABusyMachineIsNoisy) {
  NoisyCase test;
  int reading = 0;
  test.busy = [&] { return ++reading % 16 > 8; };
  test.noise.width = 1e-9;
  test.candidate.kernel = [&](const FakeCall& call) {
    test.eager.seconds = test.rounds() % 2 == 0 ? 3e-3 : 2e-3;
    return call.input;
  };
  const TimingOutcome outcome = test.Run();
  EXPECT_EQ(test.rounds(), 4 * test.plan.processes);
  EXPECT_THAT(outcome.noisy, HasSubstr("and an interval is"));
}

TEST(TimingRoundsTest, AWideIntervalOfAQuietMachineIsNot) {
  NoisyCase test;
  test.noise.width = 1e-9;
  test.candidate.kernel = [&](const FakeCall& call) {
    test.eager.seconds = test.rounds() % 2 == 0 ? 3e-3 : 2e-3;
    return call.input;
  };
  EXPECT_EQ(test.Run().noisy, "");
  EXPECT_EQ(test.rounds(), 5);
}

TEST(TimingRoundsTest, NoPairIsAddedWhereNoPrecisionIsAskedFor) {
  NoisyCase test;
  test.busy = [] { return true; };
  test.noise.width = 1;
  const TimingOutcome outcome = test.Run();
  EXPECT_EQ(test.rounds(), 5);
  EXPECT_NE(outcome.noisy, "");
}

TEST(TimingRoundsTest, NoPairIsAddedWhenTimeIsUp) {
  NoisyCase test;
  test.busy = [] { return true; };
  test.noise.time = Seconds{0.01};
  EXPECT_NE(test.Run().noisy, "");
  EXPECT_EQ(test.rounds(), 5);
}

TEST(TimingRoundsTest, WithoutTimeASessionHasTheFewestPairsOfAnIntervalAndSaysSo) {
  NoisyCase test;
  test.limit = Seconds{0};
  const TimingOutcome outcome = test.Run();
  EXPECT_EQ(test.rounds(), 2);
  EXPECT_NEAR(outcome.Ratio(1, 0).median, 2, 1e-2);
  EXPECT_EQ(outcome.noisy, "there was time for 2 of 5 process pairs");
}

TEST(TimingRoundsTest, ABusyMachineGetsNoMorePairsThanThereIsTimeFor) {
  NoisyCase test;
  test.busy = [] { return true; };
  test.limit = Seconds{0};
  EXPECT_THAT(test.Run().noisy, HasSubstr("; there was time for 2 of 5 process pairs"));
  EXPECT_EQ(test.rounds(), 2);
}

TEST(TimingRoundsTest, ASessionWaitsUntilTheMachineIsQuiet) {
  NoisyCase test;
  test.busy = [&] { return test.Now() < 2; };
  test.noise.quiet_wait = Seconds{10};
  const TimingOutcome outcome = test.Run();
  EXPECT_EQ(outcome.load.disturbed, 0U);
  EXPECT_GE(outcome.load.waited_seconds, 1.9);
  EXPECT_EQ(test.rounds(), 5);
}

TEST(TimingRoundsTest, ASessionWaitsNoLongerThanItMay) {
  NoisyCase test;
  test.busy = [] { return true; };
  test.noise.quiet_wait = Seconds{1};
  const TimingOutcome outcome = test.Run();
  EXPECT_GE(outcome.load.waited_seconds, 1);
  EXPECT_LT(outcome.load.waited_seconds, 1.5);
  EXPECT_NE(outcome.noisy, "");
}

TEST(TimingRoundsTest, WhereAProcessorIsSpareAnotherProgramMayHaveIt) {
  NoisyCase test;
  test.busy = [] { return true; };
  FakeSides sides(
      test.world,
      {{.role = SideRole::kCandidate, .kernel = &test.kernel}, {.role = SideRole::kEager}},
      {&test.candidate, &test.eager});
  const TimingScene scene{
      .sets = test.sets,
      .sides = sides,
      .clock = test.world.clock,
      .processors = {.allowed = 1, .available = 2},
      .noise = {.read = [] { return LoadReading{.runnable = 1}; }, .time = Seconds{100}}};
  Rng rng{Seed{}};
  EXPECT_EQ(RunTiming(scene, test.plan, rng).value().load.disturbed, 0U);
}

}  // namespace
}  // namespace pragma
