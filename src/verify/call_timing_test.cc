// What is recorded of calls of ModelNew, with an executor whose time is a counter.
#include "verify/call_timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

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

TEST(CallTimingTest, WhatCallsReturnIsCompared) {
  CallCase test;
  ASSERT_TRUE(test.Run().call) << test.judging.evaluation.reason;

  CallCase wrong;
  wrong.executor.candidate.kernel = [](const FakeCall& call) { return call.input + 7; };
  EXPECT_FALSE(wrong.Run().call);
  EXPECT_EQ(wrong.judging.evaluation.status, Status::kImplausible);
}

TEST(CallTimingTest, CallsAreWarmedUpForHalfAsLongAsTheyAreTimed) {
  CallCase test;
  std::size_t calls = 0;
  test.executor.candidate.kernel = [&calls](const FakeCall& call) {
    ++calls;
    return std::optional(call.input);
  };
  const Timing& timing = test.Run().call->kept.timing;
  EXPECT_GE(static_cast<double>(calls), 1.4 * static_cast<double>(timing.samples));
}

TEST(CallTimingTest, ShortCallsFollowEachOtherInRandomNumber) {
  CallCase test;
  test.executor.candidate.seconds = test.executor.eager.seconds = 1e-5;
  test.judging.run_seconds = 1e-5;
  std::set<std::size_t> numbers;
  std::size_t number = 0;
  std::optional<std::uint64_t> last;
  test.executor.candidate.kernel = [&](const FakeCall& call) {
    if (call.timed && last != call.input) numbers.insert(std::exchange(number, 0));
    last = call.input;
    ++number;
    return std::optional(call.input);
  };
  const Timing& timing = test.Run().call->kept.timing;
  EXPECT_GT(timing.samples, 100 * timing.processes);
  EXPECT_GT(numbers.size(), 5U);
}

TEST(CallTimingTest, ACallThatIsWrongOnceInThreeIsFound) {
  CallCase test;
  test.executor.candidate.seconds = test.executor.eager.seconds = 1e-5;
  test.judging.run_seconds = 1e-5;
  std::size_t calls = 0;
  test.executor.candidate.kernel = [&calls](const FakeCall& call) {
    return std::optional(call.input + (++calls % 3 == 0 ? 7 : 0));
  };
  EXPECT_FALSE(test.Run().call);
  EXPECT_EQ(test.judging.evaluation.status, Status::kImplausible);
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

}  // namespace
}  // namespace pragma
