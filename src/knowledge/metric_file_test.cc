#include "knowledge/metric_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/metric_table.h"
#include "knowledge/metrics_testing.h"

namespace pragma {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTwo = R"(
[[metric]]
tag = "waits"
unit = "1"
meaning = "how often it waits"
better = "low"
prompt = 2
quiet_at_zero = true
compared = { place = 1, words = "waits", kind = "count", cycles = 5 }
[[metric]]
tag = "busy_share"
unit = "1"
meaning = "how much of the time it works"
percent = true
prompt = 1
report = true
)";

std::string ProblemWith(const std::string& toml) {
  const auto metrics = ParseMetrics(toml, "my.toml");
  return metrics ? "" : metrics.error().message;
}

std::vector<std::string> Tags(const std::vector<const MetricDefinition*>& rows) {
  std::vector<std::string> tags;
  for (const MetricDefinition* row : rows) tags.push_back(row->tag);
  return tags;
}

TEST(MetricFile, ReadsDefinitions) {
  const auto rows = ParseMetrics(kTwo, "my.toml");
  ASSERT_TRUE(rows) << rows.error().message;
  const auto table = MetricTable::Make(*rows);
  ASSERT_TRUE(table);
  EXPECT_THAT(table->tags(), ElementsAre("waits", "busy_share"));
  EXPECT_THAT(Tags(table->InPrompts()), ElementsAre("busy_share", "waits"));
  EXPECT_THAT(Tags(table->Compared()), ElementsAre("waits"));
  EXPECT_EQ(table->Find("waits")->compared->cycles, 5);
  EXPECT_EQ(table->Find("waits")->better, Better::kLow);
  EXPECT_TRUE(table->Find("busy_share")->percent);
  EXPECT_EQ(table->Find("nonsense"), nullptr);
}

TEST(MetricFile, NamesTheMistake) {
  EXPECT_EQ(ProblemWith("[[metric]]\ntag = 'a'\nunit = '1'\n"),
            "my.toml: metric[0].meaning is missing");
  EXPECT_THAT(ProblemWith(std::string(kTwo) + "beter = 'low'\n"), HasSubstr("did you mean"));
  EXPECT_THAT(ProblemWith("[[metric]]\ntag = 'a'\nunit = '1'\nmeaning = 'm'\nbetter = 'bigger'\n"),
              HasSubstr("known are low, high"));
}

TEST(MetricTable, RefusesATagOrAPlaceThatOccursTwice) {
  std::vector<MetricDefinition> rows = *ParseMetrics(kTwo, "my.toml");
  rows[1].prompt = 2;
  EXPECT_THAT(MetricTable::Make(rows).error().message, HasSubstr("busy_share"));
  rows[1].prompt = 0;
  rows[1].tag = "waits";
  EXPECT_THAT(MetricTable::Make(rows).error().message, HasSubstr("has this tag"));
}

// Values of a profile in percent already must not be multiplied by 100 again.
TEST(ShippedMetrics, ArePrintedInPercentOnlyWhereTheyAreShares) {
  const MetricTable table = ShippedMetrics();
  ASSERT_THAT(table.rows(), testing::Not(IsEmpty()));
  for (const MetricDefinition& row : table.rows()) {
    EXPECT_TRUE(!row.percent || row.unit == "1") << row.tag;
  }
}

TEST(ShippedMetrics, ShowModelsTheTimeFirst) {
  const MetricTable table = ShippedMetrics();
  ASSERT_THAT(table.InPrompts(), SizeIs(testing::Gt(20)));
  EXPECT_EQ(table.InPrompts().front()->tag, "time_ms");
  EXPECT_EQ(table.Compared().front()->tag, "time_ms");
}

}  // namespace
}  // namespace pragma
