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
#include "verify/checked_calls.h"
#include "verify/judging.h"
#include "verify/options.h"
#include "verify/testing.h"
#include "verify/testing_executor.h"
#include "verify/value_policy.h"

namespace pragma {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the fakes of this layer

std::vector<std::byte> Words(const std::vector<std::uint64_t>& words) {
  std::vector<std::byte> bytes(words.size() * sizeof(std::uint64_t));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// Returns the kernel's result for a set whose right result is `set`.
using Kernel = std::function<std::uint64_t(std::uint64_t set, Memory& memory)>;

// A result of one more than the truth stands for another order of additions. Any other result is
// wrong.
Evaluation Checked(Kernel kernel) {
  World world;
  FakeSets sets(world);
  Behaviour behaviour{.seconds = 1e-6, .doorbell = 0};
  behaviour.kernel = [kernel = std::move(kernel)](const FakeCall& call) {
    return kernel(call.input, call.memory);
  };
  BuiltKernel built;
  built.kept = {"16 bytes of static data"};
  Judging judging{.evaluation = {.status = Status::kPassed}, .kernel = &built};
  FakeCalls calls(world, behaviour, judging);
  const VerifyOptions options;
  ValuePolicy policy(sets, calls, judging, options, {});
  EXPECT_TRUE(calls.Start(CheckedCalls::History::kPristine));
  EXPECT_TRUE(calls.Start(CheckedCalls::History::kUsed));
  EXPECT_TRUE(policy.NominalSets());
  EXPECT_TRUE(StateCheck(sets, calls, policy, judging, Seconds{0.02}).Run());
  return judging.evaluation;
}

std::string StateOf(const Evaluation& evaluation) {
  for (const Check& check : evaluation.checks)
    if (check.name == "state" && check.verdict == CheckVerdict::kPass) return check.detail;
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
