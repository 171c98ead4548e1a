// The rules by which values are judged (docs/trust.md), with a kernel that is a function.
#include "verify/value_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/deadline.h"
#include "core/evaluation.h"
#include "verify/evaluate.h"
#include "verify/testing.h"
#include "verify/testing_executor.h"

namespace pragma {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fakes of this layer
using ::testing::HasSubstr;

// Judges the executor's candidate without timing it.
Evaluation Checked(FakeExecutor& executor) {
  const Result<Evaluation> evaluation =
      EvaluateOn(executor, {}, {.best = nullptr, .measure = Measure::kNothing}, {});
  EXPECT_TRUE(evaluation);
  return *evaluation;
}

Evaluation Checked(FakeKernel kernel) {
  FakeExecutor executor;
  executor.candidate.kernel = std::move(kernel);
  return Checked(executor);
}

TEST(ValueCheckTest, ARightKernelPassesAndEveryCheckIsSaid) {
  const Evaluation evaluation = Checked(RightResult);
  EXPECT_EQ(evaluation.status, Status::kPassed) << evaluation.reason;
  for (const char* check : {"values", "guards", "determinism", "batteries", "state"}) {
    EXPECT_NE(DetailOf(evaluation, check, CheckVerdict::kPass), "") << check;
  }
}

TEST(ValueCheckTest, TheOrderIsSetsFreshProcessThreadsBatteriesState) {
  FakeExecutor executor;
  executor.other_threads = {"with 3 OpenMP threads"};
  Checked(executor);
  const World& world = executor.world;
  EXPECT_EQ(world.Count("draw"), 5);
  EXPECT_LT(world.Find("forget"), world.Find("start"));
  EXPECT_LT(world.Find("start"), world.Find("draw"));
  EXPECT_LT(world.Find("draw"), world.Find("start a fresh process"));
  EXPECT_LT(world.Find("start a fresh process"), world.Find("start with other threads"));
  EXPECT_LT(world.Find("start with other threads"), world.Find("battery"));
  EXPECT_LT(world.Find("battery"), world.Find("look for state"));
  EXPECT_LT(world.Find("look for state"), world.events.size());
}

TEST(ValueCheckTest, WithoutTimeTwoInputSetsMustDoAndThatIsSaid) {
  FakeExecutor executor;
  executor.own_options().deadline = Deadline(TimePoint{});
  const Evaluation evaluation = Checked(executor);
  EXPECT_EQ(evaluation.status, Status::kPassed) << evaluation.reason;
  EXPECT_EQ(executor.world.Count("draw"), 2);
  EXPECT_THAT(evaluation.partly_checked, ::testing::Contains("3 of 5 input sets"));
  EXPECT_THAT(DetailOf(evaluation, "values", CheckVerdict::kPass), HasSubstr("2 input sets"));
}

TEST(ToleranceTest, AResultWithinTheTolerancePassesAndOneBeyondItDoesNot) {
  EXPECT_EQ(Checked([](const FakeCall& call) { return call.input + 1; }).status, Status::kPassed);
  const Evaluation wrong = Checked([](const FakeCall& call) { return call.input + 2; });
  EXPECT_EQ(wrong.status, Status::kWrongValues);
  ASSERT_TRUE(wrong.error);
  EXPECT_EQ(wrong.error->max_abs, 2);
}

TEST(SecondOpinionTest, AnErrorThatRoundingOfTheInputsExplainsIsNotedAndPasses) {
  FakeExecutor executor;
  executor.own_sets.movement = 3;
  executor.candidate.kernel = [](const FakeCall& call) { return call.input + 2; };
  const Evaluation evaluation = Checked(executor);
  EXPECT_EQ(evaluation.status, Status::kPassed) << evaluation.reason;
  EXPECT_THAT(DetailOf(evaluation, "values", CheckVerdict::kNote), HasSubstr("ill-conditioned"));
}

TEST(SecondOpinionTest, AnErrorBeyondWhatTheInputsExplainIsRejected) {
  FakeExecutor executor;
  executor.own_sets.movement = 3;
  executor.candidate.kernel = [](const FakeCall& call) { return call.input + 4; };
  EXPECT_EQ(Checked(executor).status, Status::kWrongValues);
  EXPECT_GT(executor.world.Count("second opinion"), 0);
}

TEST(SecondOpinionTest, InOfficialModeOnlyKernelBenchsRuleCounts) {
  FakeExecutor executor;
  executor.own_options().judging.mode = CheckMode::kOfficial;
  executor.candidate.kernel = [](const FakeCall& call) { return call.input + 4; };
  const Evaluation evaluation = Checked(executor);
  EXPECT_EQ(evaluation.status, Status::kPassed);
  EXPECT_THAT(DetailOf(evaluation, "values", CheckVerdict::kNote),
              HasSubstr("wrong by the strict rule"));
  EXPECT_EQ(executor.world.Count("second opinion"), 0);
  executor.own_sets.official = false;
  EXPECT_EQ(Checked(executor).status, Status::kWrongValues);
}

TEST(SmallValuesTest, ASmallValueThatIsWrongInTheRelativeSenseIsRejected) {
  FakeExecutor executor;
  executor.own_sets.wrong_small_value = "a small value is wrong: out[1]";
  const Evaluation evaluation = Checked(executor);
  EXPECT_EQ(evaluation.status, Status::kWrongValues);
  EXPECT_EQ(evaluation.reason, "a small value is wrong: out[1]");
}

TEST(PoisonTest, AnOutputThatIsNotWrittenIsWrong) {
  const Evaluation evaluation = Checked([](const FakeCall&) { return std::nullopt; });
  EXPECT_EQ(evaluation.status, Status::kWrongValues);
}

TEST(PoisonTest, AnOutputThatIsNotWrittenAgainIsWrongAlthoughItWasRightBefore) {
  // The last set is right the first time. Then the kernel leaves what lies there.
  std::optional<std::uint64_t> first;
  const Evaluation evaluation =
      Checked([first, calls = 0](const FakeCall& call) mutable -> std::optional<std::uint64_t> {
        return ++calls > 5 && calls < 7 ? std::nullopt : std::optional(call.input);
      });
  EXPECT_EQ(evaluation.status, Status::kNondeterministic);
}

TEST(GuardsTest, AWriteOutsideTheOutputIsACrash) {
  FakeExecutor executor;
  executor.candidate.writes_outside = true;
  const Evaluation evaluation = Checked(executor);
  EXPECT_EQ(evaluation.status, Status::kCrashed);
  EXPECT_EQ(evaluation.reason, "wrote outside its output out");
  EXPECT_EQ(DetailOf(evaluation, "guards", CheckVerdict::kFail), "out");
}

TEST(GuardsTest, AWrittenInputIsACrash) {
  FakeExecutor executor;
  executor.own_sets.written = "its argument x";
  const Evaluation evaluation = Checked(executor);
  EXPECT_EQ(evaluation.status, Status::kCrashed);
  EXPECT_EQ(evaluation.reason, "wrote its argument x; inputs and parameters can only be read");
}

TEST(AgainTest, ASetThatIsWrongTheSecondTimeIsNondeterministic) {
  const Evaluation evaluation = Checked(
      [calls = 0](const FakeCall& call) mutable { return call.input + (++calls > 5 ? 7 : 0); });
  EXPECT_EQ(evaluation.status, Status::kNondeterministic);
  EXPECT_THAT(evaluation.reason, HasSubstr("in the same process"));
}

TEST(AgainTest, ASetThatIsWrongInAFreshProcessIsNondeterministic) {
  const Evaluation evaluation =
      Checked([](const FakeCall& call) { return call.input + (call.process == 1 ? 7 : 0); });
  EXPECT_EQ(evaluation.status, Status::kNondeterministic);
  EXPECT_THAT(evaluation.reason, HasSubstr("in a fresh process"));
}

TEST(AgainTest, ASetThatIsWrongWithOtherThreadsIsNondeterministic) {
  FakeExecutor executor;
  executor.other_threads = {"with 3 OpenMP threads", "with 24 OpenMP threads"};
  executor.candidate.kernel = [](const FakeCall& call) {
    return call.input + (call.process == 3 ? 7 : 0);
  };
  const Evaluation evaluation = Checked(executor);
  EXPECT_EQ(evaluation.status, Status::kNondeterministic);
  EXPECT_THAT(evaluation.reason, HasSubstr("with 24 OpenMP threads"));
}

TEST(AgainTest, OtherLastBitsWithinTheToleranceAreSaid) {
  const Evaluation evaluation =
      Checked([calls = 0](const FakeCall& call) mutable { return call.input + (++calls & 1); });
  EXPECT_EQ(evaluation.status, Status::kPassed) << evaluation.reason;
  EXPECT_THAT(DetailOf(evaluation, "determinism", CheckVerdict::kPass),
              HasSubstr("vary from run to run"));
}

TEST(BatteriesTest, AKernelThatIsRightOnlyOnTheTasksOwnInputsIsRejected) {
  FakeExecutor executor;
  executor.candidate.kernel = [&](const FakeCall& call) {
    return call.input + (executor.own_sets.batteries.empty() ? 0 : 7);
  };
  const Evaluation evaluation = Checked(executor);
  EXPECT_EQ(evaluation.status, Status::kWrongValues);
  EXPECT_THAT(evaluation.reason, HasSubstr("right on the task's own inputs, wrong on"));
}

TEST(StateTest, AKernelThatTurnsWrongAfterManyCallsIsRejected) {
  const Evaluation evaluation = Checked(
      [](const FakeCall& call) { return call.input + (++call.memory.calls > 1'000'000 ? 7 : 0); });
  EXPECT_EQ(evaluation.status, Status::kNondeterministic);
  EXPECT_THAT(evaluation.reason, HasSubstr("as if it had been called"));
}

TEST(StateTest, ResultsThatLookDoneAreComputedAgain) {
  // Keeps its last result if the set's number is near the last one's: as if only the ends of rows
  // had changed.
  FakeExecutor executor;
  bool battery = false;
  executor.candidate.kernel = [&](const FakeCall& call) -> std::optional<std::uint64_t> {
    battery = !executor.own_sets.batteries.empty() &&
              executor.own_sets.batteries.back() == Battery::kPartlyChanged;
    return battery ? std::nullopt : std::optional(call.input);
  };
  const Evaluation evaluation = Checked(executor);
  EXPECT_EQ(evaluation.status, Status::kWrongValues);
  EXPECT_THAT(evaluation.reason, HasSubstr("where the last call's results still lie"));
}

TEST(LoadTest, AKernelThatDoesNotLoadIsRejectedWithItsReason) {
  FakeExecutor executor;
  executor.candidate.load_failure = WorkerFailure{.status = Status::kCrashed, .reason = "killed"};
  const Evaluation evaluation = Checked(executor);
  EXPECT_EQ(evaluation.status, Status::kCrashed);
  EXPECT_EQ(evaluation.reason, "killed");
  EXPECT_EQ(executor.world.Count("draw"), 0);
}

}  // namespace
}  // namespace pragma
