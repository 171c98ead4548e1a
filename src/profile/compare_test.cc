#include "profile/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/profile.h"
#include "knowledge/metrics_testing.h"
#include "profile/diagnosis.h"
#include "profile/rules.h"

namespace pragma {
namespace {

using testing::HasSubstr;
using testing::Not;

Profile ProfileOf(const std::vector<std::pair<std::string, double>>& values) {
  Profile profile;
  for (const auto& [tag, value] : values) profile.metrics.push_back({tag, value, "1", "measured"});
  return profile;
}

const MetricDifference& Of(const ProfileComparison& comparison, const std::string& tag) {
  const auto found = std::ranges::find(comparison.differences, tag, &MetricDifference::tag);
  if (found == comparison.differences.end()) throw std::runtime_error("no " + tag);
  return *found;
}

TEST(Compare, FewerInstructionsAtLowerIpcAreAnImprovement) {
  const ProfileComparison comparison = CompareProfiles(
      ShippedMetrics(), ProfileOf({{"time_ms", 3.2}, {"instructions", 70e6}, {"ipc", 1.37}}),
      ProfileOf({{"time_ms", 2.0}, {"instructions", 10e6}, {"ipc", 0.52}}));
  EXPECT_EQ(comparison.verdict, "improved");
  EXPECT_THAT(comparison.statement, HasSubstr("instructions fell from 70 M to 10 M (0.143x)"));
  EXPECT_THAT(comparison.statement, HasSubstr("speedup 1.60"));
  EXPECT_THAT(comparison.statement,
              HasSubstr("IPC fell from 1.37 to 0.52, which does not measure speed"));
  EXPECT_EQ(Of(comparison, "ipc").verdict, "same");
}

TEST(Compare, HigherIpcDoesNotExcuseALongerTime) {
  const ProfileComparison comparison = CompareProfiles(
      ShippedMetrics(), ProfileOf({{"time_ms", 1.0}, {"instructions", 8e6}, {"ipc", 2.0}}),
      ProfileOf({{"time_ms", 1.5}, {"instructions", 24e6}, {"ipc", 4.0}}));
  EXPECT_EQ(comparison.verdict, "regressed");
  EXPECT_THAT(comparison.statement, HasSubstr("instructions rose from 8 M to 24 M"));
  EXPECT_THAT(comparison.statement, HasSubstr("does not measure speed"));
}

TEST(Compare, ACountThatCannotAccountForTheTimeIsNotNamed) {
  const ProfileComparison comparison = CompareProfiles(
      ShippedMetrics(),
      ProfileOf({{"time_ms", 2}, {"cycles", 8e6}, {"instructions", 20e6}, {"page_faults", 9}}),
      ProfileOf({{"time_ms", 1}, {"cycles", 4e6}, {"instructions", 10e6}, {"page_faults", 0}}));
  EXPECT_THAT(comparison.statement, HasSubstr("instructions fell"));
  EXPECT_THAT(comparison.statement, Not(HasSubstr("page faults")));
  EXPECT_EQ(Of(comparison, "page_faults").verdict, "improved");
  EXPECT_DOUBLE_EQ(Of(comparison, "page_faults").factor, 0);
}

TEST(Compare, SplitsAreNamedWhereTheInstructionsAreTheSame) {
  const ProfileComparison comparison = CompareProfiles(
      ShippedMetrics(),
      ProfileOf({{"time_ms", 0.602},
                 {"cycles", 2.46e6},
                 {"instructions", 4.84e6},
                 {"line_splits", 2359296}}),
      ProfileOf(
          {{"time_ms", 0.349}, {"cycles", 1.43e6}, {"instructions", 4.84e6}, {"line_splits", 0}}));
  EXPECT_EQ(comparison.verdict, "improved");
  EXPECT_THAT(comparison.statement, HasSubstr("line splits fell from 2.36 M to 0"));
}

TEST(Compare, TimesWithinTheNoiseAreTheSameWhateverTheCountsSay) {
  const ProfileComparison comparison = CompareProfiles(
      ShippedMetrics(), ProfileOf({{"time_ms", 1.00}, {"instructions", 8e6}, {"ipc", 2}}),
      ProfileOf({{"time_ms", 1.02}, {"instructions", 4e6}, {"ipc", 1}}));
  EXPECT_EQ(comparison.verdict, "same");
  EXPECT_THAT(comparison.statement, HasSubstr("the same by time"));
  EXPECT_EQ(Of(comparison, "instructions").verdict, "improved");
}

TEST(Compare, WithoutBothTimesThereIsNoVerdict) {
  const ProfileComparison comparison = CompareProfiles(
      ShippedMetrics(), ProfileOf({{"instructions", 8e6}}), ProfileOf({{"instructions", 4e6}}));
  EXPECT_EQ(comparison.verdict, "unknown");
  EXPECT_EQ(comparison.differences.size(), 1U);
  EXPECT_EQ(CompareProfiles(ShippedMetrics(), {}, {}).verdict, "unknown");
}

// The paper's first listing: a convolution that the compiler reports as vectorised but that runs
// scalar. It is compared with the figures of an ikj matrix product from the same session, scaled to
// a vectorised convolution.
TEST(Compare, TheScalarConvolutionIsNamedByItsInstructionsAndItsVectorShare) {
  const std::vector<Metric> scalar{{"time_ms", 3.752, "ms", "measured"},
                                   {"wall_1_ms", 3.752, "ms", "measured"},
                                   {"threads", 1, "1", "measured"},
                                   {"cycles", 15.3e6, "1", "estimated"},
                                   {"instructions", 67.9e6, "1", "exact count"},
                                   {"ipc", 4.44, "1", "estimated"},
                                   {"scalar_fp", 10.5e6, "1", "exact count"},
                                   {"vector_fp", 0, "1", "exact count"},
                                   {"vector_share", 0, "1", "exact count"},
                                   {"vector_bits", 32, "bit", "exact count"},
                                   {"loads", 10.86e6, "1", "exact count"},
                                   {"stores", 1.05e6, "1", "exact count"},
                                   {"l1_misses", 3e4, "1", "simulated"},
                                   {"l2_misses", 1e4, "1", "simulated"},
                                   {"l3_misses", 0, "1", "simulated"},
                                   {"roofline_share", 0.011, "1", "estimated"}};
  std::vector<Metric> vector = scalar;
  const auto set = [&vector](const std::string& tag, double value) {
    std::ranges::find(vector, tag, &Metric::tag)->value = value;
  };
  set("time_ms", 0.4);
  set("cycles", 1.63e6);
  set("instructions", 4.2e6);
  set("ipc", 2.6);
  set("vector_share", 1);
  const auto rules = LoadRules(PRAGMA_SOURCE_DIR "/knowledge/diagnosis/cpu.toml", ShippedMetrics());
  ASSERT_TRUE(rules) << rules.error().message;
  const std::vector<Diagnosis> diagnoses = Diagnose(*rules, scalar);
  ASSERT_FALSE(diagnoses.empty());
  EXPECT_EQ(diagnoses[0].bottleneck, "not_vectorised");
  EXPECT_THAT(diagnoses[0].evidence[0], HasSubstr("0 % of the floating-point operations"));
  EXPECT_THAT(diagnoses[0].evidence[1], HasSubstr("67.9 M instructions"));
  for (const std::string& line : diagnoses[0].evidence) EXPECT_THAT(line, Not(HasSubstr("IPC")));

  Profile best{.metrics = vector};
  Profile listing{.metrics = scalar};
  const ProfileComparison comparison = CompareProfiles(ShippedMetrics(), best, listing);
  EXPECT_EQ(comparison.verdict, "regressed");
  EXPECT_THAT(comparison.statement, HasSubstr("instructions rose from 4.2 M to 67.9 M"));
  EXPECT_THAT(comparison.statement,
              HasSubstr("IPC rose from 2.60 to 4.44, which does not measure speed"));
}

}  // namespace
}  // namespace pragma
