// The rules by which a time is believed (docs/trust.md), with an executor whose time is a counter.
#include "verify/timing_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/clock.h"
#include "base/deadline.h"
#include "core/evaluation.h"
#include "verify/judging.h"
#include "verify/testing.h"
#include "verify/testing_executor.h"

namespace pragma {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fakes of this layer
using ::testing::HasSubstr;

constexpr const char* kPair = "session: candidate eager";
constexpr const char* kContest = "session: candidate eager best";

// Times a candidate that was found right.
struct TimedCase {
  FakeExecutor executor;
  Judging judging{.evaluation = {.status = Status::kPassed}};
  TimingWish wish;

  TimedCase() { judging.run_seconds = 1e-3; }
  Evaluation& Run() {
    judging.kernel = &executor.built;
    EXPECT_TRUE(TimeKernel(executor, judging, wish, {}));
    return judging.evaluation;
  }
  // The bound of a task of this many bytes at 1 GB/s.
  void SetBytes(std::int64_t bytes) {
    Task& task = executor.own_sets.own_task();
    task.outputs.front().shape = {bytes / 4};
    executor.own_sets.can_be_late = false;
  }
};

TEST(TimingCheckTest, TimesAndRatiosAreRecorded) {
  TimedCase test;
  const Evaluation& evaluation = test.Run();
  ASSERT_EQ(evaluation.status, Status::kPassed) << evaluation.reason;
  EXPECT_NEAR(evaluation.timing->ms.median, 1, 1e-3);
  EXPECT_NEAR(evaluation.speedup_eager->median, 2, 1e-3);
  EXPECT_FALSE(evaluation.speedup_best);
  EXPECT_NE(DetailOf(evaluation, "timed_outputs", CheckVerdict::kPass), "");
  EXPECT_NE(DetailOf(evaluation, "accounting", CheckVerdict::kPass), "");
  EXPECT_NE(DetailOf(evaluation, "no_work_ahead", CheckVerdict::kPass), "");
  EXPECT_NE(DetailOf(evaluation, "no_results_reused", CheckVerdict::kPass), "");
}

TEST(TimingCheckTest, TheMachineIsTakenAloneBeforeAProcessIsTimedAndLeftAfterwards) {
  TimedCase test;
  test.Run();
  const World& world = test.executor.world;
  EXPECT_LT(world.Find("be alone"), world.Find("round"));
  EXPECT_EQ(world.events.back(), "leave");
}

TEST(TimingCheckTest, AFailureWhileTimedIsARejection) {
  TimedCase test;
  test.executor.candidate.kernel = [](const FakeCall& call) { return call.input + 7; };
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(evaluation.status, Status::kImplausible);
  EXPECT_EQ(DetailOf(evaluation, "timed_outputs", CheckVerdict::kFail), evaluation.reason);
  EXPECT_TRUE(evaluation.error);
  EXPECT_FALSE(evaluation.timing);
}

TEST(HardBoundTest, ATimeAboveItPasses) {
  TimedCase test;
  test.SetBytes(500'000);  // half a millisecond
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(evaluation.status, Status::kPassed);
  EXPECT_NE(DetailOf(evaluation, "hard_bound", CheckVerdict::kPass), "");
  EXPECT_NEAR(*evaluation.lower_bound_ms, 0.5, 0.01);
  EXPECT_EQ(test.executor.world.Count("measure again"), 0);
}

TEST(HardBoundTest, ATimeBelowItIsMeasuredAgainInFreshProcessesAndThenImplausible) {
  TimedCase test;
  test.SetBytes(4'000'000);  // four milliseconds
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(evaluation.status, Status::kImplausible);
  EXPECT_THAT(evaluation.reason, HasSubstr("1 ms is faster than the 4 ms"));
  EXPECT_NE(DetailOf(evaluation, "hard_bound", CheckVerdict::kNote), "");
  EXPECT_NE(DetailOf(evaluation, "hard_bound", CheckVerdict::kFail), "");
  EXPECT_EQ(test.executor.world.Count(kPair), 2);
}

TEST(HardBoundTest, ASingleMeasurementThatIsTooFastIsForgiven) {
  TimedCase test;
  test.SetBytes(4'000'000);
  test.executor.own_rules.allocators = {Allocator::kDefault};
  test.executor.candidate.sessions = {1e-3, 5e-3};
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(evaluation.status, Status::kPassed) << evaluation.reason;
  EXPECT_NEAR(evaluation.timing->ms.median, 5, 0.01);
  EXPECT_EQ(DetailOf(evaluation, "hard_bound", CheckVerdict::kNote),
            "faster than its bound at first; timed again");
}

TEST(HardBoundTest, TheMachineIsMeasuredAgainBeforeAnythingIsImplausible) {
  TimedCase test;
  test.SetBytes(4'000'000);
  test.executor.measured_again = 10;  // the bound was measured while the machine was busy
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(evaluation.status, Status::kPassed) << evaluation.reason;
  EXPECT_NEAR(*evaluation.lower_bound_ms, 0.4, 0.01);
  EXPECT_EQ(test.executor.world.Count(kPair), 1);
}

TEST(ContestTest, AWinOverTheBestIsMeasuredAgainAndTheSecondTimeCounts) {
  TimedCase test;
  const BuiltKernel best;
  test.wish.best = &best;
  test.executor.own_sets.can_be_late = false;
  test.executor.candidate.sessions = {0.5e-3, 0.99e-3};
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(test.executor.world.Count(kContest), 2);
  EXPECT_NEAR(evaluation.speedup_best->median, 1 / 0.99, 1e-3);
}

TEST(ContestTest, WhatDoesNotWinIsMeasuredOnce) {
  TimedCase test;
  const BuiltKernel best;
  test.wish.best = &best;
  test.executor.candidate.seconds = 0.995e-3;  // less than the smallest gain that counts
  test.Run();
  EXPECT_EQ(test.executor.world.Count(kContest), 1);
}

TEST(ContestTest, ABestThatFailsIsAnErrorAndNotTheCandidatesFault) {
  TimedCase test;
  const BuiltKernel best;
  test.wish.best = &best;
  test.judging.kernel = &test.executor.built;
  test.executor.best.kernel = [](const FakeCall& call) { return call.input + 7; };
  const Result<void> timed = TimeKernel(test.executor, test.judging, test.wish, {});
  ASSERT_FALSE(timed);
  EXPECT_THAT(timed.error().message, HasSubstr("the present best failed while it was timed"));
  EXPECT_FALSE(test.judging.failed());
}

TEST(WorkAheadTest, AKernelThatWorksAheadIsImplausible) {
  TimedCase test;
  test.executor.candidate.ahead_seconds = 0.1e-3;
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(evaluation.status, Status::kImplausible);
  EXPECT_THAT(evaluation.reason, HasSubstr("does work outside the call it is for"));
  EXPECT_NE(DetailOf(evaluation, "no_work_ahead", CheckVerdict::kFail), "");
}

TEST(WorkAheadTest, OnABusyMachineTheSessionIsRepeatedAndThenRejected) {
  TimedCase test;
  // Sessions are fast and the audits between them slow, as when others keep the machine busy.
  test.executor.candidate.sessions = {1e-3, 5e-3, 1e-3, 5e-3, 1e-3, 5e-3};
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(test.executor.world.Count(kPair), 3);
  EXPECT_EQ(evaluation.status, Status::kImplausible);
  EXPECT_THAT(evaluation.reason, HasSubstr("evaluate it again"));
}

TEST(WorkAheadTest, InOfficialModeNothingIsAudited) {
  TimedCase test;
  test.executor.own_options().judging.mode = CheckMode::kOfficial;
  test.executor.candidate.ahead_seconds = 0.1e-3;
  EXPECT_EQ(test.Run().status, Status::kPassed);
}

TEST(ResultsReusedTest, AKernelThatReturnsWhereItsResultsAreIsImplausible) {
  TimedCase test;
  test.executor.candidate.reuse_seconds = 0.1e-3;
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(evaluation.status, Status::kImplausible);
  EXPECT_THAT(evaluation.reason, HasSubstr("does less work where it finds its work done"));
  EXPECT_NE(DetailOf(evaluation, "no_results_reused", CheckVerdict::kFail), "");
}

TEST(ResultsReusedTest, NoOtherDrawDependsOnTheAudit) {
  TimedCase official;
  official.executor.own_options().judging.mode = CheckMode::kOfficial;
  official.executor.own_sets.can_be_late = false;  // no other audit
  official.Run();
  TimedCase strict;
  strict.executor.own_sets.can_be_late = false;
  EXPECT_NE(DetailOf(strict.Run(), "no_results_reused", CheckVerdict::kPass), "");
  EXPECT_EQ(strict.judging.rng(), official.judging.rng());
}

TEST(BaselineTest, EagerHasTheAllocatorWithWhichItIsFaster) {
  TimedCase test;
  test.executor.own_rules.allocators = {Allocator::kDefault, Allocator::kKeep};
  const Evaluation& evaluation = test.Run();
  ASSERT_TRUE(test.executor.baseline());
  // In doubt it keeps freed memory.
  EXPECT_EQ(test.executor.baseline()->eager, Allocator::kKeep);
  EXPECT_EQ(evaluation.environment.allocator, AllocatorName(Allocator::kKeep));
  EXPECT_EQ(test.executor.world.Count("session: eager eager"), 1);
}

TEST(BaselineTest, AKnownBaselineIsNotMeasuredAgain) {
  TimedCase test;
  test.executor.own_rules.allocators = {Allocator::kDefault, Allocator::kKeep};
  test.executor.baseline() =
      TaskBaseline{.eager = Allocator::kDefault, .eager_ms = 2, .compile = {}};
  test.Run();
  EXPECT_EQ(test.executor.world.Count("session: eager eager"), 0);
}

TEST(BaselineTest, WithoutTimeFreedMemoryIsKeptAndNothingIsRemembered) {
  TimedCase test;
  test.executor.own_rules.allocators = {Allocator::kDefault, Allocator::kKeep};
  test.executor.own_options().deadline = Deadline(TimePoint{});
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(test.executor.world.Count("session: eager eager"), 0);
  EXPECT_EQ(evaluation.environment.allocator, AllocatorName(Allocator::kKeep));
  EXPECT_NE(DetailOf(evaluation, "baseline", CheckVerdict::kSkipped), "");
  EXPECT_FALSE(test.executor.baseline());
}

TEST(CompileTest, WithoutTimeItIsLeftOutAndThatIsSaid) {
  TimedCase test;
  test.executor.baseline() =
      TaskBaseline{.eager = Allocator::kDefault, .eager_ms = 2, .compile = {}};
  test.executor.own_options().deadline = Deadline(TimePoint{});
  test.Run();
  EXPECT_TRUE(TimeCompiled(test.executor, test.judging, {}));
  EXPECT_FALSE(test.judging.evaluation.speedup_compile);
  EXPECT_EQ(DetailOf(test.judging.evaluation, "compile_baseline", CheckVerdict::kSkipped),
            "no time for torch.compile");
}

TEST(PrecisionTest, ARoughTimeHasThreeProcessPairsAndOneAllocator) {
  TimedCase test;
  test.executor.own_rules.allocators = {Allocator::kDefault, Allocator::kKeep};
  test.executor.own_options().precision = Precision::kRough;
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(evaluation.timing->processes, 3U);
  EXPECT_EQ(test.executor.world.Count("session: eager eager"), 0);
  EXPECT_NE(DetailOf(evaluation, "no_work_ahead", CheckVerdict::kPass), "")
      << "the audits are not shorter";
}

TEST(PrecisionTest, TheTimeOfAProfileIsNotAudited) {
  TimedCase test;
  test.executor.own_options().precision = Precision::kUnaudited;
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(evaluation.timing->processes, 3U);
  EXPECT_EQ(DetailOf(evaluation, "no_work_ahead", CheckVerdict::kPass), "");
  EXPECT_EQ(DetailOf(evaluation, "no_results_reused", CheckVerdict::kPass), "");
}

TEST(CompileTest, TheCandidateIsTimedAgainstTorchCompile) {
  TimedCase test;
  test.executor.baseline() =
      TaskBaseline{.eager = Allocator::kDefault, .eager_ms = 2, .compile = {}};
  test.executor.compile.seconds = 3e-3;
  test.Run();
  EXPECT_TRUE(TimeCompiled(test.executor, test.judging, {}));
  EXPECT_NEAR(test.judging.evaluation.speedup_compile->median, 3, 1e-3);
}

TEST(CompileTest, AModuleThatTorchCompileDoesNotSupportIsNoted) {
  TimedCase test;
  test.executor.baseline() =
      TaskBaseline{.eager = Allocator::kDefault, .eager_ms = 2, .compile = {}};
  test.executor.no_compile = "not supported";
  test.Run();
  EXPECT_TRUE(TimeCompiled(test.executor, test.judging, {}));
  EXPECT_FALSE(test.judging.failed());
  EXPECT_EQ(DetailOf(test.judging.evaluation, "compile_baseline", CheckVerdict::kNote),
            "not supported");
}

TEST(DeviceRulesTest, AllSidesShareOneSession) {
  TimedCase test;
  const BuiltKernel best;
  test.wish = {.best = &best, .compile = true};
  test.executor.own_rules.on_device = true;
  test.executor.own_sets.can_be_late = false;
  test.executor.compile.seconds = 3e-3;
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(test.executor.world.Count("session: candidate eager compile best"), 1);
  EXPECT_NEAR(evaluation.speedup_compile->median, 3, 1e-3);
  EXPECT_EQ(DetailOf(evaluation, "accounting", CheckVerdict::kPass), "");
  EXPECT_EQ(DetailOf(evaluation, "no_work_ahead", CheckVerdict::kPass),
            "inputs reach the module's memory after the warm-up has been waited for");
  EXPECT_EQ(DetailOf(evaluation, "no_results_reused", CheckVerdict::kPass), "");
}

TEST(DeviceRulesTest, ATorchCompileThatIsLeftOutIsNoted) {
  TimedCase test;
  test.wish.compile = true;
  test.executor.own_rules.on_device = true;
  test.executor.own_sets.can_be_late = false;
  test.executor.no_compile = "not supported";
  const Evaluation& evaluation = test.Run();
  EXPECT_EQ(evaluation.status, Status::kPassed) << evaluation.reason;
  EXPECT_FALSE(evaluation.speedup_compile);
  EXPECT_EQ(DetailOf(evaluation, "compile_baseline", CheckVerdict::kNote), "not supported");
}

}  // namespace
}  // namespace pragma
