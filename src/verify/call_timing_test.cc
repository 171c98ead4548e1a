// What is recorded of calls of ModelNew, with an executor whose time is a counter.
#include "verify/call_timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/evaluation.h"
#include "verify/testing.h"
#include "verify/testing_executor.h"

namespace pragma {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fakes of this layer

struct CallCase {
  FakeExecutor executor;
  Judging judging{.evaluation = {.status = Status::kPassed}};
  bool compile = false;

  CallCase() {
    judging.run_seconds = 1e-3;
    judging.kernel = &executor.built;
    judging.evaluation.environment.trust = "weaker (python)";
  }
  Evaluation& Run() {
    EXPECT_TRUE(TimeCalls(executor, judging, compile, {}));
    return judging.evaluation;
  }
};

TEST(CallTimingTest, TheCallIsComparedWithEager) {
  CallCase test;
  const Evaluation& evaluation = test.Run();
  ASSERT_TRUE(evaluation.call) << evaluation.reason;
  EXPECT_EQ(evaluation.call->over, "eager");
  EXPECT_NEAR(evaluation.call->kept.speedup.median, 2, 1e-3);
  EXPECT_NEAR(evaluation.call->kept.timing.ms.median, 1, 1e-3);
  EXPECT_NEAR(evaluation.call->kept.baseline.ms.median, 2, 1e-3);
  EXPECT_EQ(evaluation.call->trust, "weaker (python)");
}

TEST(CallTimingTest, TheFasterTorchSideIsTheBaseline) {
  CallCase test;
  test.compile = true;
  test.executor.compile.seconds = 1.5e-3;
  EXPECT_EQ(test.Run().call->over, "torch.compile");
  EXPECT_NEAR(test.judging.evaluation.call->kept.speedup.median, 1.5, 1e-3);

  CallCase other;
  other.compile = true;
  other.executor.compile.seconds = 3e-3;
  EXPECT_EQ(other.Run().call->over, "eager");
}

TEST(CallTimingTest, ArgumentsAreTouchedAndWhatCallsReturnIsCompared) {
  CallCase test;
  ASSERT_TRUE(test.Run().call) << test.judging.evaluation.reason;
  EXPECT_GT(test.executor.world.Count("touch"), 0);

  CallCase wrong;
  wrong.executor.candidate.kernel = [](const FakeCall& call) { return call.input + 7; };
  EXPECT_FALSE(wrong.Run().call);
  EXPECT_EQ(wrong.judging.evaluation.status, Status::kImplausible);
}

TEST(CallTimingTest, CallsAreWarmedUpForSomeTime) {
  CallCase test;
  std::size_t calls = 0;
  test.executor.candidate.kernel = [&calls](const FakeCall& call) {
    ++calls;
    return std::optional(call.input);
  };
  const Timing& timing = test.Run().call->kept.timing;
  // Bursts have three calls or more. Without warming up there would be half as many before each.
  EXPECT_GT(calls, 2 * timing.samples);
}

TEST(CallTimingTest, MallocsDefaultsStandBesideItOnlyWhereTheyDiffer) {
  CallCase same;
  EXPECT_FALSE(same.Run().call->defaults);

  CallCase faulting;
  faulting.executor.candidate.faulting_seconds = 4e-3;
  faulting.executor.candidate.faults = 256;
  const Evaluation& evaluation = faulting.Run();
  ASSERT_TRUE(evaluation.call->defaults);
  EXPECT_NEAR(evaluation.call->kept.speedup.median, 2, 1e-3);
  EXPECT_NEAR(evaluation.call->defaults->speedup.median, 0.5, 1e-3);
  EXPECT_EQ(evaluation.call->defaults->page_faults, 256);
  EXPECT_EQ(evaluation.call->defaults->baseline_page_faults, 0);
}

TEST(CallTimingTest, SeveralCallsAreInABurstOnlyIfTheirTensorsFitNearTheProcessors) {
  CallCase small;
  small.executor.candidate.seconds = small.executor.eager.seconds = 1e-5;
  small.judging.run_seconds = 1e-5;
  const std::string several = small.Run().call->kept.timing.method;
  EXPECT_THAT(several, ::testing::Not(::testing::HasSubstr("bursts of 1 calls")));

  CallCase large;
  large.executor.candidate.seconds = large.executor.eager.seconds = 1e-5;
  large.judging.run_seconds = 1e-5;
  large.executor.own_sets.own_task().arguments.front().shape = {1 << 20};
  EXPECT_THAT(large.Run().call->kept.timing.method, ::testing::HasSubstr("bursts of 1 calls"));
}

}  // namespace
}  // namespace pragma
