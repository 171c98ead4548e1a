#include "profile/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/profile.h"
#include "knowledge/metrics_testing.h"
#include "profile/rules.h"

namespace pragma {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kRules = R"toml(
target = "cpu"
report_from = 0.05
largest_speedup = 10
best_possible = "1 / roofline_share"
[thresholds]
many = 100
[[define]]
name = "miss_cost"
value = ["l3_misses / cycles", "l2_misses / cycles"]
[[define]]
name = "split_cost"
value = ["line_splits / cycles"]
otherwise = 0.5
[[rule]]
id = "memory"
group = true
[[rule.trigger]]
when = "topdown_memory_bound > 0.2"
mark = "P"
decides = true
[[rule.trigger]]
when = "miss_cost > 0.1"
mark = "E"
[[rule]]
id = "at_bound"
alone = true
[[rule.trigger]]
when = "roofline_share > 0.9"
mark = "E"
evidence = "{roofline_share:percent}"
[[rule.action]]
text = "Stop."
[[rule]]
id = "dram_latency"
parent = "memory"
site = "l3_misses"
[[rule.trigger]]
when = "l3_misses > many"
mark = "E"
explains = "miss_cost"
evidence = "{l3_misses:count} misses (threshold {many:count})"
[[rule.action]]
when = "gather_count > 0"
text = "Gather less."
[[rule.action]]
text = "Prefetch."
[[rule]]
id = "l1_splits"
[[rule.trigger]]
when = "1"
mark = "E"
explains = "split_cost"
evidence = "{split_cost:percent}"
[[rule.action]]
text = "Align."
[[rule]]
id = "tlb"
[[rule.trigger]]
when = "dtlb2_misses > many"
mark = "P"
explains = "dtlb2_misses / cycles"
evidence = "{dtlb2_misses}"
[[rule.trigger]]
when = "dtlb_misses > many"
mark = "E"
explains = "2"
evidence = "{dtlb_misses}"
[[rule.action]]
text = "Pack."
[[rule]]
id = "spills"
[[rule.trigger]]
when = "spill_traffic > 0"
mark = "E"
explains = "spill_traffic"
evidence = "{spill_traffic}"
[[rule.action]]
text = "Fewer."
)toml";

RuleSet Rules() { return ParseRules(kRules, "test", ShippedMetrics()).value(); }

std::vector<Metric> Metrics(const std::vector<std::pair<std::string, double>>& values) {
  std::vector<Metric> metrics;
  for (const auto& [tag, value] : values) metrics.push_back({tag, value, "1", "simulated"});
  return metrics;
}

RuleVerdict VerdictOf(const std::string& rule, const std::vector<Metric>& metrics) {
  for (const RuleVerdict& verdict : Explain(Rules(), metrics)) {
    if (verdict.rule == rule) return verdict;
  }
  return {};
}

std::vector<std::string> Causes(const std::vector<Metric>& metrics) {
  std::vector<std::string> causes;
  for (const Diagnosis& diagnosis : Diagnose(Rules(), metrics))
    causes.push_back(diagnosis.bottleneck);
  return causes;
}

TEST(Diagnose, RanksByExplainedTimeAndReportsThreeAtMost) {
  EXPECT_THAT(Causes(Metrics({{"cycles", 1000},
                              {"l3_misses", 300},
                              {"line_splits", 200},
                              {"dtlb2_misses", 700},
                              {"spill_traffic", 0.1}})),
              ElementsAre("tlb", "dram_latency", "l1_splits"));
}

TEST(Diagnose, WhatExplainsLittleIsLeftOut) {
  EXPECT_THAT(Causes(Metrics({{"cycles", 1000}, {"line_splits", 20}, {"spill_traffic", 0.01}})),
              ElementsAre());
}

TEST(Diagnose, AChildCountsOnlyIfItsParentFires) {
  const auto few = Metrics({{"cycles", 1e6}, {"l3_misses", 300}});
  EXPECT_EQ(VerdictOf("dram_latency", few).outcome, RuleOutcome::kNotFired);
  EXPECT_THAT(VerdictOf("dram_latency", few).reason, HasSubstr("its parent memory"));
  const auto counted =
      Metrics({{"cycles", 1000}, {"l3_misses", 300}, {"topdown_memory_bound", 0.1}});
  EXPECT_EQ(VerdictOf("dram_latency", counted).outcome, RuleOutcome::kNotFired)
      << "the counters decide";
}

TEST(Diagnose, TheBoundSilencesEverythingElse) {
  const auto diagnoses =
      Diagnose(Rules(), Metrics({{"roofline_share", 0.95}, {"spill_traffic", 0.9}}));
  ASSERT_EQ(diagnoses.size(), 1U);
  EXPECT_EQ(diagnoses[0].bottleneck, "at_bound");
  EXPECT_DOUBLE_EQ(diagnoses[0].predicted_speedup, 1);
}

TEST(Diagnose, PredictsNoMoreThanTheBoundLeavesAndTheLargestAllowed) {
  const auto predicted = [](double share, double roof) {
    std::vector<std::pair<std::string, double>> values{
        {"spill_traffic", share}, {"line_splits", 0}, {"cycles", 1}};
    if (roof > 0) values.emplace_back("roofline_share", roof);
    return Diagnose(Rules(), Metrics(values)).at(0).predicted_speedup;
  };
  EXPECT_DOUBLE_EQ(predicted(0.5, 0), 2);
  EXPECT_DOUBLE_EQ(predicted(0.5, 0.8), 1.25);
  EXPECT_DOUBLE_EQ(predicted(0.99, 0), 10);
}

TEST(Diagnose, EvidenceShowsValueThresholdAndSource) {
  const auto diagnoses = Diagnose(
      Rules(), Metrics({{"cycles", 1000}, {"l3_misses", 300}, {"line_splits", 0}}),
      {{"hottest", 7, 90}, {"l3_misses", 12, 100}, {"l3_misses", 9, 200}, {"loads", 3, 900}});
  ASSERT_EQ(diagnoses.size(), 1U);
  EXPECT_THAT(diagnoses[0].evidence, ElementsAre("300 misses (threshold 100) (simulated)"));
  EXPECT_EQ(diagnoses[0].line, 9);
  EXPECT_EQ(diagnoses[0].action, "Prefetch.");
}

TEST(Diagnose, AnActionKeyedByAConditionComesFirst) {
  const auto diagnoses = Diagnose(
      Rules(),
      Metrics({{"cycles", 1000}, {"l3_misses", 300}, {"line_splits", 0}, {"gather_count", 4}}),
      {{"hottest", 7, 90}});
  ASSERT_EQ(diagnoses.size(), 1U);
  EXPECT_EQ(diagnoses[0].action, "Gather less.");
  EXPECT_EQ(diagnoses[0].line, 7) << "without lines for its own figure, the hottest";
}

TEST(Explain, SaysWhatIsMissingDownToTheMetric) {
  const RuleVerdict verdict = VerdictOf("dram_latency", Metrics({{"l3_misses", 300}}));
  EXPECT_EQ(verdict.outcome, RuleOutcome::kUnassessable);
  EXPECT_THAT(verdict.reason, HasSubstr("not measured: cycles"));
  EXPECT_EQ(NameOf(verdict.outcome), "unassessable");
}

TEST(Explain, TheSecondAlternativeIsAskedWhenTheFirstCannotBe) {
  const RuleVerdict verdict = VerdictOf("tlb", Metrics({{"dtlb_misses", 300}}));
  EXPECT_EQ(verdict.outcome, RuleOutcome::kFired);
  EXPECT_EQ(verdict.trigger, 1);
  EXPECT_EQ(verdict.mark, "E");
  EXPECT_DOUBLE_EQ(verdict.explains, 0.95) << "nothing explains all of the time";
  ASSERT_EQ(verdict.values.size(), 2U);
  EXPECT_EQ(verdict.values[0].tag, "dtlb_misses");
  EXPECT_EQ(verdict.values[0].source, "simulated");
  EXPECT_EQ(verdict.values[1].tag, "many");
}

TEST(Explain, ValuesThatAreNoNumbersCountAsMissing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(VerdictOf("spills", Metrics({{"spill_traffic", nan}})).outcome,
            RuleOutcome::kUnassessable);
  EXPECT_THAT(VerdictOf("memory", Metrics({{"l2_misses", 0}, {"cycles", 0}})).reason,
              HasSubstr("division by zero"));
  EXPECT_TRUE(Diagnose(Rules(), {}).size() <= 1);
}

TEST(Explain, ADefinitionWithAFallbackIsAlwaysKnown) {
  const RuleVerdict verdict = VerdictOf("l1_splits", {});
  EXPECT_EQ(verdict.outcome, RuleOutcome::kFired);
  EXPECT_DOUBLE_EQ(verdict.explains, 0.5);
}

}  // namespace
}  // namespace pragma
