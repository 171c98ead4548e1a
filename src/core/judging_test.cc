#include "core/judging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace pragma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const JudgingField& Field(std::string_view name) {
  for (const JudgingField& field : JudgingFields()) {
    if (field.name == name) return field;
  }
  ADD_FAILURE() << name;
  return JudgingFields().front();
}

TEST(JudgingTest, WhatIsNotGivenHasItsDefault) {
  const JudgingOptions options = JudgingFrom({{"mode", "official"}});
  EXPECT_EQ(options.mode, CheckMode::kOfficial);
  EXPECT_EQ(options.cache, CacheState::kWarm);
  EXPECT_EQ(options.run_limit.count(), 60);
}

TEST(JudgingTest, EveryFieldComesBackFromItsText) {
  const JudgingTexts texts{{"mode", "official"},   {"cache", "cold"},
                           {"threads", "3"},       {"run_limit", "5s"},
                           {"task_limit", "300s"}, {"strict_nan", "true"},
                           {"quiet_wait", "9s"},   {"interval_width", "2"},
                           {"shapes", "[]"},       {"target", "triton"},
                           {"devices", "1,0"},     {"eval", "true"},
                           {"build_limit", "90s"}, {"compile_mode", "max-autotune"}};
  EXPECT_EQ(texts.size(), JudgingFields().size());
  EXPECT_EQ(TextsOf(JudgingFrom(texts)), texts);
}

TEST(JudgingTest, TextsThatAreNotValidAreIgnored) {
  EXPECT_EQ(JudgingFrom({{"run_limit", "?"}}).run_limit, JudgingOptions{}.run_limit);
  EXPECT_EQ(JudgingFrom({{"threads", "-1"}}).threads, 0);
}

TEST(JudgingTest, ARecordAlwaysHoldsWhatItHeldAlways) {
  EXPECT_THAT(RecordOf({}),
              ElementsAre(Pair("cache", "warm"), Pair("mode", "strict"), Pair("run_limit", "")));
  EXPECT_THAT(
      RecordOf(JudgingFrom({{"strict_nan", "true"}, {"threads", "2"}, {"run_limit", "1m"}})),
      ElementsAre(Pair("cache", "warm"), Pair("mode", "strict"), Pair("run_limit", ""),
                  Pair("strict_nan", "true")));
}

TEST(JudgingTest, ComplaintsSayWhatIsAllowed) {
  EXPECT_EQ(Field("mode").Complaint("strict"), "");
  EXPECT_EQ(Field("mode").Complaint("x"), "must be one of strict, official");
  EXPECT_EQ(Field("threads").Complaint("0"), "must be a whole number from 1");
  EXPECT_EQ(Field("strict_nan").Complaint("yes"), "must be true or false");
  EXPECT_THAT(Field("run_limit").Complaint("5x"), HasSubstr("5x"));
}

}  // namespace
}  // namespace pragma
