// The rules of a timing session (docs/trust.md, docs/measuring.md), with processes whose time is a
// counter.
#include "verify/timing_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "core/status.h"
#include "verify/testing.h"
#include "verify/testing_executor.h"
#include "verify/timing_plan.h"
#include "verify/timing_rounds.h"

namespace pragma {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fakes of this layer
using ::testing::HasSubstr;

// A candidate against eager, with all that a session needs.
struct SessionCase {
  World world;
  FakeSets sets{world};
  Behaviour candidate{.seconds = 1e-3};
  Behaviour eager{.seconds = 2e-3};
  TimingPlan plan{.processes = 5, .bursts = 3, .warmup = 1, .timed = 4};
  ProcessorShare processors{.allowed = 1, .available = 2};
  DoorbellLimit doorbell = DoorbellLimit::kRoundTrip;
  BuiltKernel kernel;

  TimingOutcome Run() {
    FakeSides sides(world,
                    {{.role = SideRole::kCandidate, .kernel = &kernel}, {.role = SideRole::kEager}},
                    {&candidate, &eager});
    const TimingScene scene{.sets = sets,
                            .sides = sides,
                            .clock = world.clock,
                            .processors = processors,
                            .doorbell = doorbell};
    Rng rng{Seed{}};
    return *RunTiming(scene, plan, rng);
  }
};

TEST(TimingRunTest, TheRatioIsThatOfTheCalls) {
  SessionCase test;
  const TimingOutcome outcome = test.Run();
  ASSERT_FALSE(outcome.failed);
  EXPECT_NEAR(outcome.Ratio(1, 0).median, 2, 1e-3);
  EXPECT_NEAR(outcome.sides[0].Milliseconds().median, 1, 1e-3);
  EXPECT_EQ(outcome.sides[0].samples, 5U * 3 * 4);
}

TEST(TimingRunTest, EachRoundHasFreshProcesses) {
  SessionCase test;
  test.Run();
  EXPECT_EQ(test.world.Count("round"), 5);
  EXPECT_EQ(test.world.processes, 10U);
}

TEST(TimingRunTest, IdleSidesAreFrozen) {
  SessionCase test;
  test.Run();
  EXPECT_EQ(test.world.most_awake, 1);
}

TEST(TimingRunTest, OutputsAreReadOnlyWhenTheProcessIsFrozen) {
  SessionCase test;
  test.Run();
  EXPECT_EQ(test.world.Count("looked at a process that runs"), 0);
}

TEST(TimingRunTest, EveryTimedOutputIsCompared) {
  // One wrong call among sixty.
  SessionCase test;
  test.candidate.kernel = [calls = 0](const FakeCall& call) mutable {
    return call.input + (++calls == 37 ? 7 : 0);
  };
  const TimingOutcome outcome = test.Run();
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->side, 0U);
  EXPECT_EQ(outcome.failed->failure.status, Status::kImplausible);
  EXPECT_THAT(outcome.failed->failure.reason,
              HasSubstr("right when it was checked, wrong while it was timed"));
  EXPECT_TRUE(outcome.failed->error);
}

TEST(TimingRunTest, ATimedOutputGetsASecondOpinion) {
  SessionCase test;
  test.sets.movement = 3;
  test.candidate.kernel = [](const FakeCall& call) { return call.input + 2; };
  EXPECT_FALSE(test.Run().failed);
  EXPECT_GT(test.world.Count("second opinion"), 0);
}

TEST(TimingRunTest, ValuesAreFreshInEveryBurstSoThatAnswersCannotBeKept) {
  SessionCase test;
  std::map<std::uint32_t, std::uint64_t> kept;
  test.candidate.kernel = [&](const FakeCall& call) {
    return kept.try_emplace(call.slot, call.input).first->second;
  };
  const TimingOutcome outcome = test.Run();
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->failure.status, Status::kImplausible);
}

TEST(TimingRunTest, OutputsArePoisonedBeforeEachBurst) {
  // Values never change here, so a kernel that writes each output once leaves right ones.
  SessionCase test;
  test.sets.renews = false;
  std::map<std::pair<std::size_t, std::uint32_t>, int> calls;
  test.candidate.kernel = [&](const FakeCall& call) -> std::optional<std::uint64_t> {
    return ++calls[{call.process, call.slot}] > 1 ? std::nullopt : std::optional(call.input);
  };
  ASSERT_TRUE(test.Run().failed);
}

TEST(TimingRunTest, AWriteOutsideATimedOutputIsACrash) {
  SessionCase test;
  test.candidate.writes_outside = true;
  const TimingOutcome outcome = test.Run();
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->failure.status, Status::kCrashed);
  EXPECT_EQ(outcome.failed->failure.reason, "wrote outside its output out");
}

TEST(TimingRunTest, MoreProcessorsThanAllowedAreImplausible) {
  SessionCase test;
  test.candidate.processors = 1.9;
  const TimingOutcome outcome = test.Run();
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->failure.status, Status::kImplausible);
  EXPECT_THAT(outcome.failed->failure.reason, HasSubstr("it kept 1.9 processors busy"));
}

TEST(TimingRunTest, AsManyProcessorsAsAllowedAreFine) {
  SessionCase test;
  test.candidate.processors = 1.9;
  test.processors = {.allowed = 2, .available = 4};
  EXPECT_FALSE(test.Run().failed);
}

TEST(TimingRunTest, WhereAllProcessorsAreAllowedNothingIsBeyondThem) {
  SessionCase test;
  test.candidate.processors = 1.9;
  test.processors = {.allowed = 1, .available = 1};
  EXPECT_FALSE(test.Run().failed);
}

TEST(TimingRunTest, ASlowEmptyRoundTripDoesNotMakeACandidateFaster) {
  SessionCase test;
  test.candidate.empty_doorbell = 3e-3;  // as long as three of the four calls
  const TimingOutcome outcome = test.Run();
  EXPECT_GT(outcome.sides[0].Milliseconds().median, 0.95);
}

TEST(TimingRunTest, OnADeviceACandidatesRoundTripCountsNoMoreThanTorchs) {
  SessionCase test;
  test.doorbell = DoorbellLimit::kTorch;
  test.eager.doorbell = 100e-6;
  test.candidate.doorbell = 100e-6;
  test.candidate.empty_doorbell = 3e-3;
  const TimingOutcome outcome = test.Run();
  EXPECT_NEAR(outcome.sides[0].Milliseconds().median, 1, 1e-3);
}

TEST(TimingRunTest, TimedInputsArriveAfterTheWarmUp) {
  SessionCase test;
  test.plan = {.processes = 1, .bursts = 1, .warmup = 1, .timed = 1};
  test.candidate.kernel = [&](const FakeCall& call) {
    test.world.events.emplace_back("call");
    return call.input;
  };
  test.Run();
  const auto& events = test.world.events;
  const auto first = static_cast<std::size_t>(std::ranges::find(events, "call") - events.begin());
  ASSERT_LT(first + 2, events.size());
  EXPECT_EQ(events[first - 1], "before the warm-up");
  EXPECT_EQ(events[first + 1], "after the warm-up");
  EXPECT_EQ(events[first + 2], "call");
}

TEST(TimingRunTest, ACandidateThatDoesNotLoadEndsTheSession) {
  SessionCase test;
  test.candidate.load_failure = WorkerFailure{.status = Status::kCrashed, .reason = "killed"};
  const TimingOutcome outcome = test.Run();
  ASSERT_TRUE(outcome.failed);
  EXPECT_EQ(outcome.failed->failure.reason, "killed");
  EXPECT_EQ(test.world.Count("round"), 1);
}

}  // namespace
}  // namespace pragma
