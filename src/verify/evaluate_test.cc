// The order in which a candidate is judged, and the audit of results that seem too good
// (docs/trust.md), with an executor whose time is a counter.
#include "verify/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "core/evaluation.h"
#include "verify/testing.h"
#include "verify/testing_executor.h"

namespace pragma {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fakes of this layer
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kPair = "session: candidate eager";

Evaluation Evaluate(FakeExecutor& executor, Measure measure = Measure::kEager,
                    const Candidate* best = nullptr) {
  const Result<Evaluation> evaluation =
      EvaluateOn(executor, {}, {.best = best, .measure = measure}, {});
  EXPECT_TRUE(evaluation);
  return *evaluation;
}

TEST(EvaluateTest, SecretsAreDrawnAfterTheBuild) {
  FakeExecutor executor;
  const Evaluation first = Evaluate(executor, Measure::kNothing);
  EXPECT_EQ(executor.world.Count("build"), 1);  // the seed was not known
  EXPECT_LT(executor.world.Find("build"), executor.world.Find("draw"));
  EXPECT_NE(first.seed, "");
  EXPECT_NE(Evaluate(executor, Measure::kNothing).seed, first.seed);
}

TEST(EvaluateTest, AGivenSeedIsUsed) {
  FakeExecutor executor;
  executor.own_options().seed = Seed{1, 2};
  EXPECT_EQ(Evaluate(executor, Measure::kNothing).seed, SeedToHex(Seed{1, 2}));
}

TEST(EvaluateTest, WhatDoesNotBuildIsNotRun) {
  FakeExecutor executor;
  executor.rejection = Evaluation{.status = Status::kRejectedSource, .reason = "no"};
  EXPECT_EQ(Evaluate(executor).status, Status::kRejectedSource);
  EXPECT_EQ(executor.world.Count("start"), 0);
  EXPECT_EQ(executor.world.sessions, 0U);
}

TEST(EvaluateTest, ABestThatNoLongerBuildsIsLeftOutWithANote) {
  for (const bool on_device : {false, true}) {
    FakeExecutor executor;
    executor.own_rules.on_device = on_device;
    const Candidate best;
    EXPECT_TRUE(Evaluate(executor, Measure::kEager, &best).speedup_best);
    executor.best_rejection = Evaluation{.status = Status::kCompileError, .reason = "no such flag"};
    const Evaluation evaluation = Evaluate(executor, Measure::kEager, &best);
    EXPECT_EQ(evaluation.status, Status::kPassed) << evaluation.reason;
    EXPECT_TRUE(evaluation.speedup_eager);
    EXPECT_FALSE(evaluation.speedup_best);
    EXPECT_THAT(DetailOf(evaluation, "best", CheckVerdict::kNote), HasSubstr("no such flag"));
  }
}

TEST(EvaluateTest, WhatIsWrongIsNotTimed) {
  FakeExecutor executor;
  executor.candidate.kernel = [](const FakeCall& call) { return call.input + 7; };
  EXPECT_EQ(Evaluate(executor).status, Status::kWrongValues);
  EXPECT_EQ(executor.world.sessions, 0U);
}

TEST(EvaluateTest, ChecksShareTheMachineAndTimingDoesNot) {
  FakeExecutor executor;
  Evaluate(executor);
  const World& world = executor.world;
  EXPECT_LT(world.Find("share"), world.Find("build"));
  EXPECT_LT(world.Find("draw"), world.Find("be alone"));
  EXPECT_LT(world.Find("be alone"), world.Find("round"));
  EXPECT_EQ(world.events.back(), "leave");
}

TEST(EvaluateTest, WhereNothingCanBeTimedTheChecksCount) {
  FakeExecutor executor;
  executor.cannot_time = "no GPU";
  const Evaluation evaluation = Evaluate(executor);
  EXPECT_EQ(evaluation.status, Status::kPassed);
  EXPECT_EQ(DetailOf(evaluation, "timing", CheckVerdict::kSkipped), "no GPU");
  EXPECT_EQ(executor.world.sessions, 0U);
}

TEST(EvaluateTest, TorchCompileIsTimedAfterTheAudit) {
  FakeExecutor executor;
  executor.baseline() = TaskBaseline{.eager = Allocator::kDefault, .eager_ms = 2, .compile = {}};
  EXPECT_TRUE(Evaluate(executor, Measure::kEagerAndCompile).speedup_compile);
  EXPECT_EQ(executor.world.Count("session: candidate compile"), 1);
}

TEST(AuditTest, AnOrdinaryResultIsNotAudited) {
  FakeExecutor executor;
  const Evaluation evaluation = Evaluate(executor);
  EXPECT_EQ(executor.world.Count("forget"), 1);
  EXPECT_EQ(DetailOf(evaluation, "audit", CheckVerdict::kPass), "");
}

TEST(AuditTest, AResultTenTimesAsFastAsEagerIsCheckedAndTimedOnceMoreWithNewSeeds) {
  FakeExecutor executor;
  executor.eager.seconds = 11e-3;
  const Evaluation evaluation = Evaluate(executor);
  EXPECT_EQ(evaluation.status, Status::kPassed) << evaluation.reason;
  EXPECT_EQ(executor.world.Count("forget"), 2);
  EXPECT_EQ(executor.world.Count("draw"), 10);
  EXPECT_EQ(executor.own_sets.seeds.size(), 10U);
  EXPECT_EQ(executor.world.Count(kPair), 2);
  EXPECT_THAT(DetailOf(evaluation, "audit", CheckVerdict::kPass),
              StartsWith("11.0 times as fast as eager"));
}

TEST(AuditTest, AResultNearTheHardBoundIsAudited) {
  FakeExecutor executor;
  executor.own_sets.own_task().outputs.front().shape = {225'000};  // 0.9 ms at 1 GB/s
  EXPECT_THAT(DetailOf(Evaluate(executor), "audit", CheckVerdict::kPass),
              StartsWith("90 % of the hard bound"));
}

TEST(AuditTest, AResultNearTheHardBoundIsNoWonderWhereEagerIsNearIt) {
  FakeExecutor executor;
  executor.own_sets.own_task().outputs.front().shape = {225'000};
  executor.eager.seconds = 1.05e-3;
  EXPECT_EQ(DetailOf(Evaluate(executor), "audit", CheckVerdict::kPass), "");
}

TEST(AuditTest, AResultBelowTheSoftBoundIsAudited) {
  FakeExecutor executor;
  executor.own_machine().peak_gflops = 1;
  executor.own_sets.own_task().flops = 2e6;  // two milliseconds
  EXPECT_THAT(DetailOf(Evaluate(executor), "audit", CheckVerdict::kPass),
              StartsWith("fewer operations than the task as written"));
}

TEST(AuditTest, AKernelThatFailsItsAuditIsRejected) {
  FakeExecutor executor;
  executor.eager.seconds = 11e-3;
  executor.candidate.kernel = [&](const FakeCall& call) {
    return call.input + (executor.world.Count("forget") > 1 ? 7 : 0);
  };
  const Evaluation evaluation = Evaluate(executor);
  EXPECT_EQ(evaluation.status, Status::kWrongValues);
  EXPECT_THAT(evaluation.reason, StartsWith("failed its audit (11.0 times as fast as eager)"));
  EXPECT_NE(DetailOf(evaluation, "audit", CheckVerdict::kFail), "");
}

TEST(AuditTest, TheSlowerOfTwoResultsThatDisagreeIsKept) {
  FakeExecutor executor;
  executor.eager.seconds = 11e-3;
  executor.own_sets.can_be_late = false;
  executor.candidate.sessions = {1e-3, 2e-3};
  const Evaluation evaluation = Evaluate(executor);
  EXPECT_NEAR(evaluation.speedup_eager->median, 5.5, 0.01);
  EXPECT_NEAR(evaluation.timing->ms.median, 2, 0.01);
  EXPECT_THAT(DetailOf(evaluation, "audit", CheckVerdict::kNote), HasSubstr("before 11.00"));
}

}  // namespace
}  // namespace pragma
