#include "agent/describe_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/metric_table.h"
#include "core/profile.h"
#include "knowledge/entry.h"
#include "knowledge/metrics_testing.h"

namespace pragma {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const MetricTable kMetrics = ShippedMetrics();

Profile Slow() {
  return {.metrics = {{"time_ms", 0.5, "ms", "measured"},
                      {"instructions", 2.5e6, "1", "exact count"},
                      {"line_splits", 0, "1", "simulated"},
                      {"store_bytes", 4096, "B", "exact count"},
                      {"gather_bytes", 0, "B", "exact count"}},
          .diagnosis = {{.bottleneck = "dependency_chain",
                         .score = 0.5,
                         .evidence = {"one chain"},
                         .action = "Break it (technique.multiple_accumulators, technique.estrin).",
                         .line = 7,
                         .predicted_speedup = 2},
                        {.bottleneck = "l1_splits",
                         .evidence = {},
                         .action = "Align (technique.align_rows); technique.estrin too."}},
          .hot = {},
          .providers = {},
          .judgement = {}};
}

TEST(ShownTags, AreTheUsualOnesAndThoseAskedForAsFarAsKnown) {
  const Profile slow = Slow();
  EXPECT_THAT(ShownTags({.metrics = &kMetrics,
                         .current = &slow,
                         .best = nullptr,
                         .extra = {"store_bytes", "nonsense"}}),
              ElementsAre("time_ms", "instructions", "store_bytes"));
  EXPECT_THAT(ShownTags({.metrics = &kMetrics, .current = nullptr, .best = &slow, .extra = {}}),
              IsEmpty());
}

TEST(ShownTags, AZeroIsShownWhereTheBestHasMore) {
  const Profile slow = Slow();
  Profile best = Slow();
  best.metrics[2].value = 30;
  EXPECT_THAT(ShownTags({.metrics = &kMetrics, .current = &slow, .best = &best, .extra = {}}),
              ElementsAre("time_ms", "instructions", "line_splits"));
}

TEST(OtherTags, AreWhatCouldBeAskedFor) {
  const Profile slow = Slow();
  EXPECT_THAT(OtherTags({.metrics = &kMetrics, .current = &slow, .best = nullptr, .extra = {}}),
              ElementsAre("store_bytes", "gather_bytes"));
  EXPECT_THAT(OtherTags({.metrics = &kMetrics, .current = nullptr, .best = nullptr, .extra = {}}),
              IsEmpty());
}

TEST(ProfileInWords, TellsCauseEvidenceAndRemedy) {
  const Profile slow = Slow();
  const std::string text =
      ProfileInWords({.metrics = &kMetrics, .current = &slow, .best = nullptr, .extra = {}});
  EXPECT_THAT(text, HasSubstr("1. **dependency_chain**: can explain 50 % of the time (up to 2x "
                              "as fast without it), line 7\n   - evidence: one chain\n"));
  EXPECT_THAT(text, HasSubstr("| instructions | 2.5 M | exact count |"));
  EXPECT_THAT(text, Not(HasSubstr("Hottest")));
}

TEST(ProfileInWords, ComparesWithTheBest) {
  const Profile slow = Slow();
  Profile best = Slow();
  best.metrics[1].value = 1.25e6;
  const std::string text =
      ProfileInWords({.metrics = &kMetrics, .current = &slow, .best = &best, .extra = {}});
  EXPECT_THAT(text, HasSubstr("| instructions | 2.5 M | 1.25 M | 2x | exact count |"));
}

TEST(ProfileInWords, AHotLineStaysALine) {
  Profile slow = Slow();
  slow.hot = {{.file = "kernel.cpp",
               .line = 3,
               .percent = 61,
               .text = "for (;;) x += y;\nnext",
               .remark = std::string(500, 'r')}};
  const std::string text =
      ProfileInWords({.metrics = &kMetrics, .current = &slow, .best = nullptr, .extra = {}});
  EXPECT_THAT(text, HasSubstr("- 61 %: line 3: `for (;;) x += y;` (compiler: " +
                              std::string(200, 'r') + " ...)\n"));
}

TEST(NamedTechniques, EachOnceInTheOrderOfTheDiagnosis) {
  EXPECT_THAT(NamedTechniques(Slow()),
              ElementsAre("multiple_accumulators", "estrin", "align_rows"));
  EXPECT_THAT(NamedTechniques({}), IsEmpty());
}

TEST(TechniqueInWords, HasItsFragment) {
  const Entry entry{.id = "technique.estrin",
                    .summary = "A tree.",
                    .how = "Pair the terms.",
                    .traps = "More registers.",
                    .fragment = "\nfloat y = a;\n"};
  EXPECT_EQ(
      TechniqueInWords(entry),
      "`technique.estrin`: A tree. Pair the terms. Traps: More registers.\n\n```cpp\nfloat y = "
      "a;\n```");
}

}  // namespace
}  // namespace pragma
