// The audit of results that are already there, with processes whose time is a counter.
#include "verify/reuse_audit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "core/status.h"
#include "verify/testing.h"
#include "verify/testing_executor.h"
#include "verify/timing_plan.h"

namespace pragma {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fakes of this layer

struct ReuseCase {
  World world;
  FakeSets sets{world};
  Behaviour candidate{.seconds = 1e-4};
  TimingPlan plan{.processes = 5, .bursts = 3, .warmup = 1, .timed = 4};
  double fastest = 1e-4;  // seconds of a call in the session
  BuiltKernel kernel;

  ReuseAudit Run() {
    FakeSides sides(world, {{.role = SideRole::kCandidate, .kernel = &kernel}}, {&candidate});
    const TimingScene scene{.sets = sets, .sides = sides, .clock = world.clock};
    Rng rng{Seed{}};
    return *AuditReuse(scene, plan, Seconds{fastest}, rng);
  }
};

TEST(ReuseAuditTest, AKernelThatIsAsSlowOnItsOwnResultsPassesInOneProcess) {
  ReuseCase test;
  const ReuseAudit audit = test.Run();
  EXPECT_TRUE(audit.passed);
  EXPECT_FALSE(audit.failed);
  EXPECT_EQ(test.world.Count("round"), 1);
}

TEST(ReuseAuditTest, AKernelThatReturnsWhereItsResultsAreIsFastInEveryProcess) {
  ReuseCase test;
  test.candidate.reuse_seconds = 0.1e-4;
  const ReuseAudit audit = test.Run();
  EXPECT_FALSE(audit.passed);
  EXPECT_FALSE(audit.failed);
  EXPECT_NEAR(audit.poison_seconds, 1e-4, 1e-5);
  EXPECT_NEAR(audit.right_seconds, 0.1e-4, 0.1e-5);
  EXPECT_EQ(test.world.Count("round"), 12);
}

TEST(ReuseAuditTest, ASingleCallOfABurstIsAuditedToo) {
  ReuseCase test;
  test.plan.timed = 1;
  test.candidate.reuse_seconds = 0.1e-4;
  EXPECT_FALSE(test.Run().passed);
}

TEST(ReuseAuditTest, AKernelThatLooksOnlyWhenItIsCalledForTheSameSetAgainIsCaught) {
  ReuseCase test;
  test.candidate.reuse_seconds = 0.1e-4;
  test.candidate.reuses_in_a_row = true;
  EXPECT_FALSE(test.Run().passed);
}

TEST(ReuseAuditTest, LongCallsAreComparedInOnePair) {
  ReuseCase test;
  test.candidate.seconds = test.fastest = 0.2;
  EXPECT_TRUE(test.Run().passed);
  EXPECT_LT(Seconds(test.world.clock.Now() - TimePoint{}).count(), 0.7);  // three calls
}

// Pauses of 50 ms would leave time for one pair or two, and hide the gain in one of them.
TEST(ReuseAuditTest, ABusyMachineHidesAGainInNoProcess) {
  ReuseCase test;
  test.candidate.reuse_seconds = 0.1e-4;
  test.candidate.pause = 0.05;
  EXPECT_FALSE(test.Run().passed);
}

TEST(ReuseAuditTest, ABusyMachineDoesNotMakeAnHonestKernelFail) {
  ReuseCase test;
  test.candidate.pause = 0.05;
  EXPECT_TRUE(test.Run().passed);
}

TEST(ReuseAuditTest, ASmallGainIsNoise) {
  ReuseCase test;
  test.candidate.reuse_seconds = 0.9e-4;
  EXPECT_TRUE(test.Run().passed);
}

// Otherwise it would never be called on right results.
TEST(ReuseAuditTest, TheResultsMustBeRightAtFirst) {
  ReuseCase test;
  test.candidate.kernel = [](const FakeCall& call) {
    return call.input + (call.memory.calls++ < 4 ? 7 : 0);
  };
  const ReuseAudit audit = test.Run();
  ASSERT_TRUE(audit.failed);
  EXPECT_EQ(audit.failed->failure.status, Status::kImplausible);
}

// The kernel computes a set once, and then leaves what it finds.
TEST(ReuseAuditTest, OutputsOnPoisonAreCompared) {
  ReuseCase test;
  test.candidate.kernel = [](const FakeCall& call) -> std::optional<std::uint64_t> {
    if (call.memory.number == call.input) return std::nullopt;
    call.memory.number = call.input;
    return call.input;
  };
  test.plan.timed = 1;
  EXPECT_TRUE(test.Run().failed);
}

}  // namespace
}  // namespace pragma
