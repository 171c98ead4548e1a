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
#include "verify/batteries.h"
#include "verify/battery_rules.h"
#include "verify/judging.h"

namespace pragma {
namespace {

// A kernel that copies a set. The stage has room for fewer sets than are checked, as for a large
// task.
class CopyingCalls final : public CheckedCalls {
 public:
  explicit CopyingCalls(bool varies) : varies_(varies) {}

  [[nodiscard]] const Task& task() const override { return task_; }
  [[nodiscard]] std::size_t sets() const override { return slots_.size(); }
  Result<void> DrawSet(std::size_t draw, std::uint64_t seed, std::uint32_t slot) override {
    pool_[draw % pool_.size()] = seed;
    return RestoreSet(draw, slot);
  }
  Result<void> RestoreSet(std::size_t draw, std::uint32_t slot) override {
    slots_.at(slot) = pool_[draw % pool_.size()];
    return {};
  }
  Result<void> Expect(std::uint32_t /*slot*/) override { return {}; }
  Result<BatteryDraw> DrawBattery(const BatteryWish&, Rng&, std::uint32_t) override {
    return BatteryDraw{};
  }
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::uint32_t /*slot*/) const override {
    return {};
  }
  Result<Comparison> SecondOpinion(std::uint32_t, std::vector<Tolerance>, Rng&) override {
    return Comparison{.ok = false, .reason = {}, .error = {}};
  }
  Result<bool> Call(std::uint32_t slot) override {
    output_ = slots_.at(slot) + (varies_ ? ++calls_ : 0);
    return true;
  }
  Result<std::string> WrongSmallValues(std::uint32_t, Rng&) override { return std::string(); }
  Result<bool> MeasuredCall(std::uint32_t slot) override { return Call(slot); }
  void Choose(History) override {}
  Result<bool> CallOnKept(std::uint32_t slot) override { return Call(slot); }
  Result<void> Refill(std::uint32_t) override { return {}; }
  Result<void> LookAt(std::uint32_t) override { return {}; }
  Result<void> Publish(std::uint32_t) override { return {}; }
  Result<bool> CallMany(std::span<const std::uint32_t>) override { return true; }
  Result<std::vector<std::byte>> ReadKept(Kept) override { return std::vector<std::byte>(); }
  Result<bool> WriteKept(Kept, std::span<const std::byte>) override { return false; }
  bool GuardsHold(std::uint32_t /*slot*/) override { return true; }
  Comparison Compare(std::uint32_t, const std::vector<Tolerance>&) override {
    return {.ok = true, .reason = {}, .error = {}};
  }
  bool Official(std::uint32_t /*slot*/) override { return true; }
  Result<void> Keep(std::uint32_t /*slot*/) override {
    kept_ = output_;
    return {};
  }
  bool AsKept(std::uint32_t /*slot*/) override { return output_ == kept_; }

 private:
  Task task_;
  bool varies_;
  std::uint64_t calls_ = 0;
  std::array<std::uint64_t, 2> pool_{};
  std::array<std::uint64_t, 3> slots_{};
  std::uint64_t output_ = 0;
  std::uint64_t kept_ = 0;
};

std::string Determinism(bool varies) {
  CopyingCalls calls(varies);
  const BuiltKernel kernel;
  Judging judging{.evaluation = {.status = Status::kPassed}, .kernel = &kernel};
  const VerifyOptions options;
  ValuePolicy policy(calls, judging, options, {});
  EXPECT_TRUE(policy.NominalSets());
  EXPECT_TRUE(policy.Again("in the same process"));
  policy.Summarise();
  for (const Check& check : judging.evaluation.checks)
    if (check.name == "determinism") return check.detail;
  return "not said";
}

TEST(ValuePolicyTest, ASetThatTheStageStillHasIsTheOneGivenAgain) {
  EXPECT_EQ(Determinism(false), "the same bits again, in the same and in a fresh process");
}

TEST(ValuePolicyTest, OtherBitsForTheSameSetAreTold) {
  EXPECT_EQ(Determinism(true), "the last bits vary from run to run, within the tolerance");
}

// A kernel of a task with these operators. It is right except on one battery and for NaN.
class BatteryCalls final : public CheckedCalls {
 public:
  explicit BatteryCalls(const std::vector<std::string>& operators) {
    task_.arguments = {{.name = "x", .shape = {4}},
                       {.name = "y", .shape = {4}},
                       {.name = "rows", .dtype = DType::kInt64, .shape = {4}}};
    for (const std::string& op : operators) task_.graph.push_back({.name = "n", .op = op});
  }
  std::optional<Battery> wrong;
  std::string odd_in;  // the input whose NaN is not passed on
  std::vector<std::string> refused;
  std::vector<Battery> run;
  std::size_t again = 0;         // number of calls on the drawn set
  bool poisoned_by_nan = false;  // every call after a NaN gives wrong results

  [[nodiscard]] const Task& task() const override { return task_; }
  [[nodiscard]] std::size_t sets() const override { return 1; }
  Result<void> DrawSet(std::size_t, std::uint64_t, std::uint32_t) override { return {}; }
  Result<void> RestoreSet(std::size_t, std::uint32_t) override {
    drawn_ = true;
    return {};
  }
  Result<void> Expect(std::uint32_t) override { return {}; }
  Result<BatteryDraw> DrawBattery(const BatteryWish& wish, Rng&, std::uint32_t) override {
    drawn_ = false;
    wish_ = wish;
    BatteryDraw draw{.finite = wish.battery != Battery::kNan};
    const bool refuses = std::ranges::find(refused, BatteryName(wish.battery)) != refused.end();
    draw.not_admitted = refuses ? "the reference is not finite" : "";
    return draw;
  }
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::uint32_t) const override { return {}; }
  Result<Comparison> SecondOpinion(std::uint32_t, std::vector<Tolerance>, Rng&) override {
    return Comparison{.ok = false, .reason = {}, .error = {}};
  }
  Result<bool> Call(std::uint32_t) override {
    if (drawn_) ++again;
    if (!drawn_) run.push_back(wish_.battery);
    return true;
  }
  Result<std::string> WrongSmallValues(std::uint32_t, Rng&) override { return std::string(); }
  void Choose(History) override {}
  Result<bool> CallOnKept(std::uint32_t slot) override { return Call(slot); }
  Result<void> Refill(std::uint32_t) override { return {}; }
  Result<void> LookAt(std::uint32_t) override { return {}; }
  Result<void> Publish(std::uint32_t) override { return {}; }
  Result<bool> CallMany(std::span<const std::uint32_t>) override { return true; }
  Result<std::vector<std::byte>> ReadKept(Kept) override { return std::vector<std::byte>(); }
  Result<bool> WriteKept(Kept, std::span<const std::byte>) override { return false; }
  Result<bool> MeasuredCall(std::uint32_t slot) override { return Call(slot); }
  bool GuardsHold(std::uint32_t) override { return true; }
  Comparison Compare(std::uint32_t, const std::vector<Tolerance>&) override {
    const bool ok = drawn_ ? !Poisoned() : wish_.battery != wrong;
    const bool nan = wish_.battery == Battery::kNan;
    const bool odd =
        nan && task_.arguments[static_cast<std::size_t>(wish_.argument)].name == odd_in;
    return {.ok = ok, .reason = ok ? "" : "off", .error = {}, .odd = odd ? "1 elements" : ""};
  }
  bool Official(std::uint32_t) override { return true; }
  Result<void> Keep(std::uint32_t) override { return {}; }
  bool AsKept(std::uint32_t) override { return !Poisoned(); }

 private:
  [[nodiscard]] bool Poisoned() const { return poisoned_by_nan && wish_.battery == Battery::kNan; }
  bool drawn_ = false;  // the drawn set is in place
  Task task_;
  BatteryWish wish_;
};

Evaluation Batteries(BatteryCalls& calls, const VerifyOptions& options) {
  const BuiltKernel kernel;
  Judging judging{.evaluation = {.status = Status::kPassed}, .kernel = &kernel};
  ValuePolicy policy(calls, judging, options, {});
  EXPECT_TRUE(policy.Batteries());
  if (!judging.failed()) policy.Summarise();
  return std::move(judging.evaluation);
}

const std::vector<std::string> kMaximum{"aten.amax.default"};
const std::vector<std::string> kSum{"aten.sum.dim_IntList"};
VerifyOptions NoTime() { return {.battery_budget = Seconds{0}}; }

TEST(BatteryOrderTest, WhatTheOperatorsAskForRunsFirstAndIsNeverCut) {
  BatteryCalls calls(kMaximum);
  const Evaluation evaluation = Batteries(calls, NoTime());
  EXPECT_EQ(evaluation.status, Status::kPassed);
  EXPECT_EQ(calls.run.front(), Battery::kSigned);
  EXPECT_THAT(calls.run, testing::UnorderedElementsAreArray(RequiredBatteries(calls.task())));
  EXPECT_EQ(evaluation.partly_checked.size() + calls.run.size(),
            // All but the outlier among positive values, which is for scans.
            kAllBatteries.size() - 1);
  EXPECT_THAT(evaluation.partly_checked, testing::Contains("heavy_tails"));
}

TEST(BatteryOrderTest, WithoutTimeFourAreRunInAnyCase) {
  BatteryCalls calls(kSum);
  EXPECT_FALSE(Batteries(calls, NoTime()).partly_checked.empty());
  EXPECT_GE(calls.run.size(), 4U);
}

TEST(BatteryOrderTest, WithTimeEveryBatteryIsRun) {
  BatteryCalls calls(kSum);
  EXPECT_TRUE(Batteries(calls, {}).partly_checked.empty());
  EXPECT_EQ(calls.run.size(),
            // There is a NaN for each input. The batteries for other operators are not run.
            kAllBatteries.size() - 2);
}

TEST(BatteryOrderTest, WhatANanLeavesBehindIsSeenInTheNextCall) {
  BatteryCalls calls(kSum);
  EXPECT_EQ(Batteries(calls, {}).status, Status::kPassed);
  // NaN in each of two inputs, infinities, and the two masks, which are only noted for a sum.
  EXPECT_EQ(calls.again, 5U);
  BatteryCalls poisoned(kSum);
  poisoned.poisoned_by_nan = true;
  const Evaluation evaluation = Batteries(poisoned, {});
  EXPECT_EQ(evaluation.status, Status::kNondeterministic);
  EXPECT_THAT(evaluation.reason,
              testing::HasSubstr("wrong ones after an input with a NaN in each row"));
}

TEST(BatteryOrderTest, WhatTheReferenceCannotJudgeIsNotPartOfWhatIsMissing) {
  BatteryCalls calls(kSum);
  calls.refused = {"wide_range", "zeros"};
  const Evaluation evaluation = Batteries(calls, {});
  EXPECT_TRUE(evaluation.partly_checked.empty());
  EXPECT_EQ(evaluation.checks.at(3).name, "batteries");
}

TEST(BatteryOrderTest, AWrongValueOnOneOfThemIsARejection) {
  BatteryCalls calls(kMaximum);
  calls.wrong = Battery::kExtremelyBelow;
  const Evaluation evaluation = Batteries(calls, NoTime());
  EXPECT_EQ(evaluation.status, Status::kWrongValues);
  EXPECT_THAT(evaluation.reason, testing::HasSubstr("as low as the type has them: off"));
}

TEST(BatteryOrderTest, MaskedInputsCountWhereTheOperatorsAskForThem) {
  BatteryCalls maximum(kMaximum);
  maximum.wrong = Battery::kMasked;
  EXPECT_EQ(Batteries(maximum, {}).status, Status::kWrongValues);
  BatteryCalls sum(kSum);
  sum.wrong = Battery::kMasked;
  EXPECT_EQ(Batteries(sum, {}).status, Status::kPassed);
}

TEST(NanTest, WhatBecomesOfANanInEachInputIsTold) {
  BatteryCalls calls(kSum);
  calls.odd_in = "y";
  const Evaluation evaluation = Batteries(calls, {});
  EXPECT_EQ(evaluation.status, Status::kPassed);
  EXPECT_THAT(evaluation.nan,
              testing::ElementsAre("NaN in x: passed on", "NaN in y: not passed on"));
}

TEST(NanTest, StrictlyItIsAReasonToRejectAndTimeDoesNotCutIt) {
  BatteryCalls calls(kSum);
  calls.odd_in = "y";
  VerifyOptions options = NoTime();
  options.judging.strict_nan = true;
  const Evaluation evaluation = Batteries(calls, options);
  EXPECT_EQ(evaluation.status, Status::kWrongValues);
  EXPECT_THAT(evaluation.reason, testing::HasSubstr("a NaN in y is not passed on"));
}

}  // namespace
}  // namespace pragma
