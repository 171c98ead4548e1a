#include "verify/value_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "values/batteries.h"
#include "values/battery_rules.h"
#include "verify/checked_calls.h"
#include "verify/judging.h"
#include "verify/testing.h"
#include "verify/testing_executor.h"

namespace pragma {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fakes of this layer

std::string Determinism(bool varies) {
  World world;
  world.slots.resize(3);  // fewer sets than are checked, as for a large task
  FakeSets sets(world);
  sets.tolerance = 1000;
  Behaviour behaviour;
  std::uint64_t count = 0;
  if (varies) behaviour.kernel = [&](const FakeCall& call) { return call.input + ++count; };
  const BuiltKernel kernel;
  Judging judging{.evaluation = {.status = Status::kPassed}, .kernel = &kernel};
  FakeCalls calls(world, behaviour, judging);
  EXPECT_TRUE(calls.Start(CheckedCalls::History::kUsed));
  const VerifyOptions options;
  ValuePolicy policy(sets, calls, judging, options, {});
  EXPECT_TRUE(policy.NominalSets());
  EXPECT_TRUE(policy.Again("in the same process"));
  policy.Summarise();
  return DetailOf(judging.evaluation, "determinism", CheckVerdict::kPass);
}

TEST(ValuePolicyTest, ASetThatTheStageStillHasIsTheOneGivenAgain) {
  EXPECT_EQ(Determinism(false), "the same bits again, in the same and in a fresh process");
}

TEST(ValuePolicyTest, OtherBitsForTheSameSetAreTold) {
  EXPECT_EQ(Determinism(true), "the last bits vary from run to run, within the tolerance");
}

// A kernel of a task with these operators. It is right except on one battery and for NaN.
class BatterySets final : public FakeSets {
 public:
  explicit BatterySets(World& world, const std::vector<std::string>& operators) : FakeSets(world) {
    Task& task = own_task();
    task.arguments = {{.name = "x", .shape = {4}},
                      {.name = "y", .shape = {4}},
                      {.name = "rows", .dtype = DType::kInt64, .shape = {4}}};
    task.graph.clear();
    for (const std::string& op : operators) task.graph.push_back({.name = "n", .op = op});
  }
  std::optional<Battery> wrong;
  std::string odd_in;  // the input whose NaN is not passed on
  std::vector<std::string> refused;
  std::vector<Battery> run;
  std::size_t again = 0;         // number of calls on the drawn set
  bool poisoned_by_nan = false;  // every call after a NaN gives wrong results

  void Called() {
    if (drawn_) ++again;
    if (!drawn_) run.push_back(wish_.battery);
  }
  Result<void> RestoreSet(std::size_t, std::size_t) override {
    drawn_ = true;
    return {};
  }
  Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng&, std::size_t) override {
    drawn_ = false;
    wish_ = wish;
    BatteryDraw draw{.finite = wish.battery != Battery::kNan};
    const bool refuses = std::ranges::find(refused, BatteryName(wish.battery)) != refused.end();
    draw.not_admitted = refuses ? "the reference is not finite" : "";
    return draw;
  }
  Result<Comparison> SecondOpinion(const TimedProcess&, std::uint32_t,
                                   const std::vector<Tolerance>&, Rng&) override {
    return Comparison{.ok = false, .reason = {}, .error = {}};
  }
  [[nodiscard]] Comparison Compare(const TimedProcess&, std::uint32_t,
                                   const std::vector<Tolerance>&) const override {
    const bool ok = drawn_ ? !Poisoned() : wish_.battery != wrong;
    const bool nan = wish_.battery == Battery::kNan;
    const bool odd =
        nan && task().arguments[static_cast<std::size_t>(wish_.argument)].name == odd_in;
    return {.ok = ok, .reason = ok ? "" : "off", .error = {}, .odd = odd ? "1 elements" : ""};
  }
  [[nodiscard]] bool AsKept(const TimedProcess&, std::uint32_t) const override {
    return !Poisoned();
  }

 private:
  [[nodiscard]] bool Poisoned() const { return poisoned_by_nan && wish_.battery == Battery::kNan; }
  bool drawn_ = false;  // the drawn set is in place
  BatteryWish wish_;
};

// A task's sets with everything around them.
struct BatteryCase {
  explicit BatteryCase(const std::vector<std::string>& operators) : sets(world, operators) {}
  World world;
  BatterySets sets;
};

Evaluation Batteries(BatteryCase& test, const VerifyOptions& options) {
  Behaviour behaviour;
  behaviour.kernel = [&](const FakeCall& call) {
    test.sets.Called();
    return RightResult(call);
  };
  const BuiltKernel kernel;
  Judging judging{.evaluation = {.status = Status::kPassed}, .kernel = &kernel};
  FakeCalls calls(test.world, behaviour, judging);
  EXPECT_TRUE(calls.Start(CheckedCalls::History::kUsed));
  ValuePolicy policy(test.sets, calls, judging, options, {});
  EXPECT_TRUE(policy.Batteries());
  if (!judging.failed()) policy.Summarise();
  return std::move(judging.evaluation);
}

const std::vector<std::string> kMaximum{"aten.amax.default"};
const std::vector<std::string> kSum{"aten.sum.dim_IntList"};
VerifyOptions NoTime() { return {.battery_budget = Seconds{0}}; }

TEST(BatteryOrderTest, WhatTheOperatorsAskForRunsFirstAndIsNeverCut) {
  BatteryCase calls(kMaximum);
  const Evaluation evaluation = Batteries(calls, NoTime());
  EXPECT_EQ(evaluation.status, Status::kPassed);
  EXPECT_EQ(calls.sets.run.front(), Battery::kSigned);
  EXPECT_THAT(calls.sets.run,
              ::testing::UnorderedElementsAreArray(RequiredBatteries(calls.sets.task())));
  EXPECT_EQ(evaluation.partly_checked.size() + calls.sets.run.size(),
            // All but the outlier among positive values, which is for scans.
            kAllBatteries.size() - 1);
  EXPECT_THAT(evaluation.partly_checked, ::testing::Contains("heavy_tails"));
}

TEST(BatteryOrderTest, WithoutTimeFourAreRunInAnyCase) {
  BatteryCase calls(kSum);
  EXPECT_FALSE(Batteries(calls, NoTime()).partly_checked.empty());
  EXPECT_GE(calls.sets.run.size(), 4U);
}

TEST(BatteryOrderTest, WithTimeEveryBatteryIsRun) {
  BatteryCase calls(kSum);
  EXPECT_TRUE(Batteries(calls, {}).partly_checked.empty());
  EXPECT_EQ(calls.sets.run.size(),
            // There is a NaN for each input. The batteries for other operators are not run.
            kAllBatteries.size() - 2);
}

TEST(BatteryOrderTest, WhatANanLeavesBehindIsSeenInTheNextCall) {
  BatteryCase calls(kSum);
  EXPECT_EQ(Batteries(calls, {}).status, Status::kPassed);
  // NaN in each of two inputs, infinities, and the two masks, which are only noted for a sum.
  EXPECT_EQ(calls.sets.again, 5U);
  BatteryCase poisoned(kSum);
  poisoned.sets.poisoned_by_nan = true;
  const Evaluation evaluation = Batteries(poisoned, {});
  EXPECT_EQ(evaluation.status, Status::kNondeterministic);
  EXPECT_THAT(evaluation.reason,
              ::testing::HasSubstr("wrong ones after an input with a NaN in each row"));
}

TEST(BatteryOrderTest, WhatTheReferenceCannotJudgeIsNotPartOfWhatIsMissing) {
  BatteryCase calls(kSum);
  calls.sets.refused = {"wide_range", "zeros"};
  const Evaluation evaluation = Batteries(calls, {});
  EXPECT_TRUE(evaluation.partly_checked.empty());
  EXPECT_EQ(evaluation.checks.at(3).name, "batteries");
}

TEST(BatteryOrderTest, AWrongValueOnOneOfThemIsARejection) {
  BatteryCase calls(kMaximum);
  calls.sets.wrong = Battery::kExtremelyBelow;
  const Evaluation evaluation = Batteries(calls, NoTime());
  EXPECT_EQ(evaluation.status, Status::kWrongValues);
  EXPECT_THAT(evaluation.reason, ::testing::HasSubstr("as low as the type has them: off"));
}

TEST(BatteryOrderTest, MaskedInputsCountWhereTheOperatorsAskForThem) {
  BatteryCase maximum(kMaximum);
  maximum.sets.wrong = Battery::kMasked;
  EXPECT_EQ(Batteries(maximum, {}).status, Status::kWrongValues);
  BatteryCase sum(kSum);
  sum.sets.wrong = Battery::kMasked;
  EXPECT_EQ(Batteries(sum, {}).status, Status::kPassed);
}

TEST(NanTest, WhatBecomesOfANanInEachInputIsTold) {
  BatteryCase calls(kSum);
  calls.sets.odd_in = "y";
  const Evaluation evaluation = Batteries(calls, {});
  EXPECT_EQ(evaluation.status, Status::kPassed);
  EXPECT_THAT(evaluation.nan,
              ::testing::ElementsAre("NaN in x: passed on", "NaN in y: not passed on"));
}

TEST(NanTest, StrictlyItIsAReasonToRejectAndTimeDoesNotCutIt) {
  BatteryCase calls(kSum);
  calls.sets.odd_in = "y";
  VerifyOptions options = NoTime();
  options.judging.strict_nan = true;
  const Evaluation evaluation = Batteries(calls, options);
  EXPECT_EQ(evaluation.status, Status::kWrongValues);
  EXPECT_THAT(evaluation.reason, ::testing::HasSubstr("a NaN in y is not passed on"));
}

}  // namespace
}  // namespace pragma
