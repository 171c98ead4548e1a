// The audit of work done ahead of time, with processes whose time is a counter.
#include "verify/ahead_audit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "core/status.h"
#include "verify/testing.h"
#include "verify/testing_executor.h"
#include "verify/timing_plan.h"

namespace pragma {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fakes of this layer

struct AuditCase {
  World world;
  FakeSets sets{world};
  Behaviour candidate{.seconds = 1e-3};
  TimingPlan plan{.processes = 5, .bursts = 3, .warmup = 1, .timed = 4};
  double fastest = 1e-3;  // seconds of a call in the session
  BuiltKernel kernel;

  AheadAudit Run() {
    FakeSides sides(world, {{.role = SideRole::kCandidate, .kernel = &kernel}}, {&candidate});
    const TimingScene scene{.sets = sets, .sides = sides, .clock = world.clock};
    Rng rng{Seed{}};
    return *AuditWorkAhead(scene, plan, Seconds{fastest}, rng);
  }
};

TEST(AheadAuditTest, AKernelThatIsAsFastOnLateInputsPassesInOneProcess) {
  AuditCase test;
  const AheadAudit audit = test.Run();
  EXPECT_TRUE(audit.passed());
  EXPECT_FALSE(audit.failed);
  EXPECT_EQ(test.world.Count("round"), 1);
}

TEST(AheadAuditTest, AKernelThatWorksAheadIsSlowOnLateInputsInEveryProcess) {
  AuditCase test;
  test.candidate.ahead_seconds = 0.1e-3;
  test.fastest = 0.1e-3;
  const AheadAudit audit = test.Run();
  EXPECT_FALSE(audit.late_burst.kept);
  EXPECT_FALSE(audit.disturbed);  // ordinary bursts are as fast as before
  EXPECT_NEAR(audit.late_burst.seconds, 1e-3, 1e-4);
  EXPECT_EQ(test.world.Count("round"), 12);
}

TEST(AheadAuditTest, AKernelThatComputesSeveralCallsAtOnceIsSlowOnASingleOne) {
  AuditCase test;
  test.candidate.batched_seconds = 0.3e-3;
  test.fastest = 0.3e-3;
  const AheadAudit audit = test.Run();
  EXPECT_TRUE(audit.late_burst.kept);
  EXPECT_FALSE(audit.single_call.kept);
  EXPECT_FALSE(audit.passed());
}

TEST(AheadAuditTest, OnAMachineThatIsBusierThanBeforeItCannotDecide) {
  AuditCase test;
  test.fastest = 0.5e-3;  // ordinary bursts take twice as long now
  const AheadAudit audit = test.Run();
  EXPECT_FALSE(audit.passed());
  EXPECT_TRUE(audit.disturbed);
}

TEST(AheadAuditTest, TheOutputsOfALateBurstAreCompared) {
  AuditCase test;
  test.candidate.kernel = [&](const FakeCall& call) {
    return call.input + (test.world.late.size() > 1 ? 7 : 0);
  };
  const AheadAudit audit = test.Run();
  ASSERT_TRUE(audit.failed);
  EXPECT_EQ(audit.failed->failure.status, Status::kImplausible);
}

TEST(AheadAuditTest, TheOutputOfASingleLateCallIsCompared) {
  AuditCase test;
  test.candidate.kernel = [&](const FakeCall& call) {
    return call.input + (test.world.late.size() == 1 ? 7 : 0);
  };
  EXPECT_TRUE(test.Run().failed);
}

// Values never change here. The kernel computes all outputs in the warm-up, and
// leaves them there when `late` sets arrive.
AheadAudit AuditOfOneThatLeavesOutputs(std::size_t late) {
  AuditCase test;
  test.sets.renews = false;
  test.candidate.kernel = [&](const FakeCall& call) -> std::optional<std::uint64_t> {
    if (test.world.late.size() == late && test.world.late.contains(call.slot)) return std::nullopt;
    for (std::uint32_t slot = 0; slot < test.world.slots.size(); ++slot) {
      call.outputs[slot] = test.world.slots[slot];
    }
    return call.input;
  };
  return test.Run();
}

TEST(AheadAuditTest, TheOutputsOfALateBurstArePoisonedAfterTheWarmUp) {
  EXPECT_TRUE(AuditOfOneThatLeavesOutputs(4).failed);
}

TEST(AheadAuditTest, TheOutputOfASingleLateCallIsPoisoned) {
  AuditCase test;  // whose values never change
  test.sets.renews = false;
  test.candidate.kernel = [&](const FakeCall& call) -> std::optional<std::uint64_t> {
    return test.world.late.size() == 1 ? std::nullopt : std::optional(call.input);
  };
  EXPECT_TRUE(test.Run().failed);
}

TEST(AheadAuditTest, WhatAKernelPreparedStaysWhereRefillsHaveTheirOwnParameters) {
  AuditCase test;
  test.sets.draws = true;
  test.kernel.has_prepare = true;
  EXPECT_TRUE(test.Run().single_call.kept);  // not tried: inputs cannot arrive alone
}

}  // namespace
}  // namespace pragma
