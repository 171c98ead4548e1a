#include "verify/state_check.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "build/builder.h"
#include "core/evaluation.h"
#include "core/task.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/value_policy.h"

namespace pragma {
namespace {

std::vector<std::byte> Words(const std::vector<std::uint64_t>& words) {
  std::vector<std::byte> bytes(words.size() * sizeof(std::uint64_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// What one process of a kernel keeps: a count of its calls, and a number that it chooses itself.
struct Memory {
  std::uint64_t calls = 0;
  std::uint64_t number = 0;
};

// Returns the kernel's result for a set whose right result is `set`.
using Kernel = std::function<std::uint64_t(std::uint64_t set, Memory& memory)>;

// Two processes of a kernel. Their memory can be read and written.
class KeepingCalls final : public CheckedCalls {
 public:
  explicit KeepingCalls(Kernel kernel) : kernel_(std::move(kernel)) {}

  [[nodiscard]] const Task& task() const override { return task_; }
  [[nodiscard]] std::size_t sets() const override { return slots_.size(); }
  Result<void> DrawSet(std::size_t draw, std::uint64_t seed, std::uint32_t slot) override {
    pool_.at(draw) = seed;
    return RestoreSet(draw, slot);
  }
  Result<void> RestoreSet(std::size_t draw, std::uint32_t slot) override {
    slots_.at(slot) = pool_.at(draw);
    return {};
  }
  Result<void> Expect(std::uint32_t /*slot*/) override { return {}; }
  Result<BatteryDraw> DrawBattery(const BatteryWish&, Rng&, std::uint32_t) override {
    return BatteryDraw{};
  }
  [[nodiscard]] std::vector<Tolerance> Tolerances(std::uint32_t /*slot*/) const override {
    return {};
  }
  Result<Comparison> SecondOpinion(std::uint32_t slot, std::vector<Tolerance>, Rng&) override {
    return Held(slot);
  }
  Result<std::string> WrongSmallValues(std::uint32_t, Rng&) override { return std::string(); }
  Result<bool> Call(std::uint32_t slot) override {
    output_ = kernel_(slots_.at(slot), memories_[used_ ? 0 : 1]);
    return true;
  }
  Result<bool> MeasuredCall(std::uint32_t slot) override { return Call(slot); }
  bool GuardsHold(std::uint32_t /*slot*/) override { return true; }
  Comparison Compare(std::uint32_t slot, const std::vector<Tolerance>&) override {
    return Held(slot);
  }
  bool Official(std::uint32_t /*slot*/) override { return true; }
  void Choose(History history) override { used_ = history == History::kUsed; }
  Result<bool> CallOnKept(std::uint32_t slot) override { return Call(slot); }
  Result<void> Refill(std::uint32_t) override { return {}; }
  Result<void> LookAt(std::uint32_t) override { return {}; }
  Result<void> Publish(std::uint32_t) override { return {}; }
  Result<bool> CallMany(std::span<const std::uint32_t> slots) override {
    for (const std::uint32_t slot : slots) TRY(Call(slot));
    return true;
  }
  Result<std::vector<std::byte>> ReadKept(Kept where) override {
    if (where == Kept::kStacks) return std::vector<std::byte>();
    const Memory& memory = memories_[used_ ? 0 : 1];
    return Words({memory.calls, memory.number});
  }
  Result<bool> WriteKept(Kept, std::span<const std::byte> kept) override {
    Memory& memory = memories_[used_ ? 0 : 1];
    std::memcpy(&memory.calls, kept.data(), sizeof(memory.calls));
    std::memcpy(&memory.number, kept.data() + sizeof(memory.calls), sizeof(memory.number));
    return true;
  }
  Result<void> Keep(std::uint32_t /*slot*/) override {
    kept_ = output_;
    return {};
  }
  bool AsKept(std::uint32_t /*slot*/) override { return output_ == kept_; }

 private:
  // A result of one more than the truth stands for another order of additions. Any other result is
  // wrong.
  [[nodiscard]] Comparison Held(std::uint32_t slot) const {
    return {.ok = output_ - slots_.at(slot) <= 1,
            .reason = "other",
            .small_values = false,
            .error = {}};
  }

  Task task_;
  Kernel kernel_;
  bool used_ = true;
  std::array<Memory, 2> memories_{};
  std::array<std::uint64_t, 8> pool_{};
  std::array<std::uint64_t, 8> slots_{};
  std::uint64_t output_ = 0;
  std::uint64_t kept_ = 0;
};

Evaluation Checked(Kernel kernel) {
  KeepingCalls calls(std::move(kernel));
  BuiltKernel built;
  built.kept = {"16 bytes of static data"};
  Judging judging{.evaluation = {.status = Status::kPassed}, .kernel = &built};
  judging.run_seconds = 1e-6;
  const VerifyOptions options;
  ValuePolicy policy(calls, judging, options, {});
  EXPECT_TRUE(policy.NominalSets());
  EXPECT_TRUE(StateCheck(calls, policy, judging, Seconds{0.02}).Run());
  return judging.evaluation;
}

std::string StateOf(const Evaluation& evaluation) {
  for (const Check& check : evaluation.checks)
    if (check.name == "state" && check.verdict == "pass") return check.detail;
  return "";
}

TEST(StateCheckTest, AKernelWithoutStatePasses) {
  const Evaluation evaluation = Checked([](std::uint64_t set, Memory&) { return set; });
  EXPECT_TRUE(evaluation.passed());
  EXPECT_TRUE(StateOf(evaluation).starts_with("16 bytes of static data; right after "));
}

TEST(StateCheckTest, ACounterThatMattersIsFoundWhereverItTriggers) {
  for (const std::uint64_t late : {300U, 5'000U, 1'000'000U, 300'000'000U}) {
    const Evaluation evaluation = Checked([late](std::uint64_t set, Memory& memory) {
      return ++memory.calls > late ? set + 7 : set;
    });
    EXPECT_EQ(evaluation.status, Status::kNondeterministic) << late;
  }
}

TEST(StateCheckTest, ACounterThatDoesNotMatterPassesAndIsNamed) {
  const Evaluation evaluation = Checked([](std::uint64_t set, Memory& memory) {
    ++memory.calls;
    return set;
  });
  EXPECT_TRUE(evaluation.passed());
  EXPECT_NE(StateOf(evaluation).find("1 counter advanced"), std::string::npos);
}

TEST(StateCheckTest, AnAnswerKeptByAnotherProcessIsFound) {
  // The kernel is right in its own process for any set, and wrong with another process's number.
  static std::uint64_t next = 0;
  const Evaluation evaluation = Checked([](std::uint64_t set, Memory& memory) {
    if (memory.number == 0) memory.number = (next += 1000);
    if (memory.calls == 0) memory.calls = memory.number;
    return memory.calls == memory.number ? set : set + 7;
  });
  EXPECT_TRUE(evaluation.passed());  // both words were exchanged, so they still match
  const Evaluation own = Checked([](std::uint64_t set, Memory& memory) {
    static std::array<const Memory*, 8> seen{};
    static std::array<std::uint64_t, 8> numbers{};
    std::size_t i = 0;
    while (seen[i] != nullptr && seen[i] != &memory) ++i;
    if (seen[i] == nullptr) {
      seen[i] = &memory;
      memory.number = numbers[i] = 1000 * (i + 1);
    }
    return memory.number == numbers[i] ? set : set + 7;
  });
  EXPECT_EQ(own.status, Status::kNondeterministic);
}

TEST(StateCheckTest, OtherLastBitsAfterManyCallsAreNoted) {
  const Evaluation evaluation = Checked(
      [](std::uint64_t set, Memory& memory) { return ++memory.calls > 20 ? set + 1 : set; });
  EXPECT_TRUE(evaluation.passed());
  EXPECT_NE(StateOf(evaluation).find("the last bits"), std::string::npos);
}

TEST(StateCheckTest, AddressesStayWhereTheyAre) {
  const std::uint64_t address = 0x00007f1234567890U;
  const std::vector<std::byte> own = Words({1, address, 3});
  const std::vector<std::byte> other = Words({4, 5, address});
  EXPECT_EQ(Exchanged(own, other), Words({4, address, 3}));
}

TEST(StateCheckTest, CountersAreFoundAndAdvancedByTheirSteps) {
  const std::vector<std::byte> first = Words({10, 7, 0x0000000500000009U});
  const std::vector<std::byte> second = Words({12, 7, 0x0000000600000009U});
  const std::vector<std::byte> third = Words({14, 8, 0x0000000700000009U});
  const std::vector<KeptCounter> counters = FindCounters(first, second, third);
  ASSERT_EQ(counters.size(), 2U);
  EXPECT_EQ(Advanced(third, counters, 100), Words({214, 8, 0x0000006b00000009U}));
}

}  // namespace
}  // namespace pragma
