#include "report/profile_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/metric_table.h"
#include "core/profile.h"
#include "report/terminal.h"

namespace pragma {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

MetricTable Metrics() {
  return MetricTable::Make({{.tag = "hits", .unit = "1", .percent = true, .report = true},
                            {.tag = "gpu_hits", .unit = "%", .report = true},
                            {.tag = "rare", .unit = "1"}})
      .value();
}

const Profile kProfile{
    .metrics = {{"hits", 0.25, "1", "pmu"}, {"gpu_hits", 75, "%", "pmu"}, {"rare", 3, "1", "pmu"}}};

TEST(FormatMetric, PrintsASharePerHundredAndAPercentageAsItIs) {
  EXPECT_EQ(FormatMetric(kProfile.metrics[0], Metrics()), "25 %");
  EXPECT_EQ(FormatMetric(kProfile.metrics[1], Metrics()), "75 %");
}

TEST(ProfileText, ShowsWhatTheTableSaysAndWhatIsAskedFor) {
  const std::string usual = ProfileText({}, kProfile, Metrics());
  EXPECT_THAT(usual, AllOf(HasSubstr("gpu_hits"), Not(HasSubstr("rare"))));
  EXPECT_THAT(ProfileText({}, kProfile, Metrics(), {.extra_metrics = {"rare"}}), HasSubstr("rare"));
  EXPECT_THAT(ProfileText({}, kProfile, Metrics(), {.all_metrics = true}), HasSubstr("rare"));
}

}  // namespace
}  // namespace pragma
