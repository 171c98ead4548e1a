#include "profile/ncu_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string Recorded() {
  return ReadFile(PRAGMA_SOURCE_DIR "/tests/recorded/ncu/details_full.csv").value_or("");
}

// The recording holds both variants of tests/gpu/diagnosis/bank_conflicts.cu. The slow one takes
// longer.
TEST(NcuAdvice, RulesThatEstimateMostOfTheLongestLaunchComeFirst) {
  const std::vector<std::string> advice = ParseNcuAdvice(Recorded(), 3);
  ASSERT_EQ(advice.size(), 3U);
  EXPECT_THAT(advice[0],
              AllOf(StartsWith("92 % (SharedMemoryConflicts): The memory access pattern"),
                    HasSubstr("32.0 - way bank conflict")));
  EXPECT_THAT(advice[1], StartsWith("92 % (UncoalescedSharedAccess): "));
  EXPECT_THAT(advice[2], StartsWith("10 % ("));
}

TEST(NcuAdvice, MisleadingRulesAndLocalEstimatesAreLeftOut) {
  const std::vector<std::string> advice = ParseNcuAdvice(Recorded(), 100);
  EXPECT_THAT(advice, Each(AllOf(Not(HasSubstr("MemoryL2Compression")),
                                 Not(HasSubstr("SOLBottleneck")), Not(HasSubstr("IssueSlot")))));
}

TEST(NcuAdvice, WhatIsNoDetailsPageGivesNone) {
  EXPECT_THAT(ParseNcuAdvice("", 3), IsEmpty());
  EXPECT_THAT(ParseNcuAdvice("==ERROR== no\n\"ID\",\"Rule Name\"\n\"0\"\n", 3), IsEmpty());
}

}  // namespace
}  // namespace pragma
