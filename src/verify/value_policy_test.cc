#include "verify/value_policy.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "core/evaluation.h"
#include "verify/judging.h"

namespace pragma {
namespace {

// A kernel that copies a set, on a stage with room for fewer sets than are checked, as of a large
// task.
class CopyingCalls final : public CheckedCalls {
 public:
  explicit CopyingCalls(bool varies) : varies_(varies) {}

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
  Result<BatteryDraw> DrawBattery(Battery, Rng&, std::uint32_t) override { return BatteryDraw{}; }
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
  bool varies_;
  std::uint64_t calls_ = 0;
  std::array<std::uint64_t, 2> pool_{};
  std::array<std::uint64_t, 3> slots_{};
  std::uint64_t output_ = 0;
  std::uint64_t kept_ = 0;
};

std::string Determinism(bool varies) {
  CopyingCalls calls(varies);
  Judging judging{.evaluation = {.status = Status::kPassed}};
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

}  // namespace
}  // namespace pragma
