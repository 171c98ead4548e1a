// Tests knowledge/diagnosis/gpu.toml with measurements of probe kernels whose cause is known, taken
// on one H200 with Nsight Compute 2025.3.1. Metrics that a probe's record lacks are left out.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
using Values = std::vector<std::pair<std::string, double>>;

const RuleSet& GpuRules() {
  static const RuleSet rules = [] {
    auto loaded = LoadRules(PRAGMA_SOURCE_DIR "/knowledge/diagnosis/gpu.toml", ShippedMetrics());
    if (!loaded) ADD_FAILURE() << loaded.error().message;
    return loaded.value_or(RuleSet{});
  }();
  return rules;
}

std::vector<Metric> Pmu(const Values& values) {
  std::vector<Metric> metrics;
  for (const auto& [tag, value] : values) metrics.push_back({tag, value, "", "pmu"});
  return metrics;
}

std::string Describe(const std::vector<Metric>& metrics) {
  std::string text;
  for (const Diagnosis& diagnosis : Diagnose(GpuRules(), metrics))
    text += fmt::format("  {} {:.2f}\n", diagnosis.bottleneck, diagnosis.score);
  for (const RuleVerdict& verdict : Explain(GpuRules(), metrics))
    text += fmt::format("    {} {} {:.2f} {}\n", verdict.rule, NameOf(verdict.outcome),
                        verdict.explains, verdict.reason);
  return text;
}

std::vector<std::string> Causes(const std::vector<Metric>& metrics) {
  std::vector<std::string> causes;
  for (const Diagnosis& diagnosis : Diagnose(GpuRules(), metrics))
    causes.push_back(diagnosis.bottleneck);
  return causes;
}

void ExpectFirst(const std::string& cause, const Values& values) {
  const std::vector<Metric> metrics = Pmu(values);
  const std::vector<std::string> causes = Causes(metrics);
  ASSERT_FALSE(causes.empty()) << Describe(metrics);
  EXPECT_EQ(causes[0], cause) << Describe(metrics);
}

// Returns the launch facts that every record has. The device has 132 multiprocessors.
Values Launch(double grid, double block, double waves, Values more) {
  more.insert(more.begin(), {{"gpu_grid", grid},
                             {"gpu_block", block},
                             {"gpu_waves", waves},
                             {"gpu_multiprocessors", 132},
                             {"gpu_kernel_time", 500}});
  return more;
}

TEST(GpuRules, NaiveProductWaitsForGlobalLoads) {
  ExpectFirst("memory_stalls", Launch(4096, 256, 3.9,
                                      {{"gpu_kernel_time", 542},
                                       {"gpu_sm_throughput", 63},
                                       {"gpu_dram_throughput", 0.3},
                                       {"gpu_achieved_occupancy", 93},
                                       {"gpu_theoretical_occupancy", 100},
                                       {"gpu_issue_active", 38},
                                       {"gpu_stall_long_scoreboard", 17.8},
                                       {"gpu_stall_lg_throttle", 11.4},
                                       {"gpu_sectors_per_request", 2},
                                       {"gpu_bytes_per_sector", 18}}));
}

TEST(GpuRules, StridedGatherIsUncoalescedThoughDeviceMemoryIsBusy) {
  const Values values = Launch(8192, 256, 7.8,
                               {{"gpu_sm_throughput", 9},
                                {"gpu_memory_throughput", 80},
                                {"gpu_dram_throughput", 80},
                                {"gpu_achieved_occupancy", 84},
                                {"gpu_theoretical_occupancy", 100},
                                {"gpu_issue_active", 9},
                                {"gpu_stall_long_scoreboard", 128},
                                {"gpu_sectors_per_request", 32},
                                {"gpu_bytes_per_sector", 4}});
  ExpectFirst("uncoalesced", values);
  const Diagnosis first = Diagnose(GpuRules(), Pmu(values))[0];
  // The profiler's own rules estimated 77 to 84 %.
  EXPECT_NEAR(first.score, 0.77, 0.1);
  EXPECT_THAT(first.evidence[0], HasSubstr("4 of the 32 bytes of a sector"));
  EXPECT_THAT(first.evidence[0], HasSubstr("(pmu)"));
}

TEST(GpuRules, ThirtyTwoWayConflictIsNamedThoughWarpsAlsoWaitAtBarriers) {
  ExpectFirst("bank_conflicts", Launch(4096, 1024, 15.5,
                                       {{"gpu_sm_throughput", 12},
                                        {"gpu_memory_throughput", 97},
                                        {"gpu_dram_throughput", 0},
                                        {"gpu_achieved_occupancy", 96},
                                        {"gpu_theoretical_occupancy", 100},
                                        {"gpu_issue_active", 5},
                                        {"gpu_bank_conflicts", 31.0 / 32},
                                        {"gpu_stall_long_scoreboard", 1},
                                        {"gpu_stall_short_scoreboard", 159},
                                        {"gpu_stall_mio_throttle", 85},
                                        {"gpu_stall_barrier", 83}}));
}

TEST(GpuRules, EightBlocksAreTooFew) {
  ExpectFirst("grid_too_small", Launch(8, 64, 0.002,
                                       {{"gpu_kernel_time", 12933},
                                        {"gpu_sm_throughput", 0.03},
                                        {"gpu_memory_throughput", 0.1},
                                        {"gpu_dram_throughput", 0.1},
                                        {"gpu_achieved_occupancy", 3},
                                        {"gpu_theoretical_occupancy", 100},
                                        {"gpu_issue_active", 1},
                                        {"gpu_stall_long_scoreboard", 91},
                                        {"gpu_sectors_per_request", 4},
                                        {"gpu_bytes_per_sector", 32}}));
}

TEST(GpuRules, WideCopyIsAtTheMemorysSpeedAndItsStallsAreASymptom) {
  const Values values = Launch(16384, 256, 15.5,
                               {{"gpu_sm_throughput", 17},
                                {"gpu_memory_throughput", 75},
                                {"gpu_dram_throughput", 75},
                                {"gpu_achieved_occupancy", 76},
                                {"gpu_theoretical_occupancy", 100},
                                {"gpu_issue_active", 7},
                                {"gpu_stall_long_scoreboard", 161},
                                {"gpu_sectors_per_request", 16},
                                {"gpu_bytes_per_sector", 32}});
  ExpectFirst("memory_throughput", values);
  Values at_roof = values;
  at_roof.emplace_back("roofline_share", 0.93);
  EXPECT_EQ(Causes(Pmu(at_roof)), std::vector<std::string>{"at_bound"});
}

// Returns the full record of a Triton softmax of 4096 rows with 94 registers per thread.
Values Softmax() {
  return Launch(4096, 128, 6.21,
                {{"gpu_kernel_time", 63.424},
                 {"gpu_sm_throughput", 22.99},
                 {"gpu_memory_throughput", 79.48},
                 {"gpu_dram_throughput", 79.48},
                 {"gpu_l1_throughput", 30.47},
                 {"gpu_l2_throughput", 89.38},
                 {"gpu_pipe_active", 14.21},
                 {"gpu_dram_bytes", 242454016},
                 {"gpu_l1_hit_rate", 0},
                 {"gpu_l2_hit_rate", 50.75},
                 {"gpu_achieved_occupancy", 29.48},
                 {"gpu_theoretical_occupancy", 31.25},
                 {"gpu_limit_registers", 5},
                 {"gpu_limit_shared", 14},
                 {"gpu_limit_warps", 16},
                 {"gpu_limit_blocks", 32},
                 {"gpu_registers_per_thread", 94},
                 {"gpu_tensor_active", 0},
                 {"gpu_issue_active", 24.61},
                 {"gpu_eligible_warps", 0.34},
                 {"gpu_cycles_per_issue", 19.25},
                 {"gpu_stall_long_scoreboard", 6.85},
                 {"gpu_stall_short_scoreboard", 4.56},
                 {"gpu_stall_mio_throttle", 1.16},
                 {"gpu_stall_lg_throttle", 0.83},
                 {"gpu_stall_barrier", 0.53},
                 {"gpu_sectors_per_request", 16},
                 {"gpu_bytes_per_sector", 32},
                 {"gpu_excessive_sectors", 0},
                 {"gpu_bank_conflicts", 2597.0 / 398052},
                 {"gpu_threads_per_instruction", 32},
                 {"gpu_spills", 0},
                 {"gpu_spill_requests", 0},
                 {"gpu_fp_fused", 0},
                 {"gpu_fp_multiply", 532.73},
                 {"gpu_fp_add", 557.70},
                 {"gpu_atomics", 0},
                 {"gpu_instructions", 15286272}});
}

TEST(GpuRules, RecordedSoftmaxIsMemoryBoundThenShortOfRegisters) {
  const std::vector<Metric> metrics = Pmu(Softmax());
  const std::vector<Diagnosis> diagnoses = Diagnose(GpuRules(), metrics);
  ASSERT_GE(diagnoses.size(), 2U) << Describe(metrics);
  EXPECT_EQ(diagnoses[0].bottleneck, "memory_throughput") << Describe(metrics);
  EXPECT_EQ(diagnoses[1].bottleneck, "low_occupancy_registers") << Describe(metrics);
  // The profiler's occupancy rule estimated 21.38 %.
  EXPECT_NEAR(diagnoses[1].score, 0.21, 0.02);
}

TEST(GpuRules, EachAlteredRecordShowsItsCause) {
  const auto with = [](const Values& changes) {
    std::vector<Metric> metrics = Pmu(Softmax());
    for (const auto& [tag, value] : changes) {
      const auto found = std::ranges::find(metrics, tag, &Metric::tag);
      if (found != metrics.end())
        found->value = value;
      else
        metrics.push_back({tag, value, "", "pmu"});
    }
    return metrics;
  };
  const Values idle{{"gpu_sm_throughput", 30},          {"gpu_memory_throughput", 25},
                    {"gpu_dram_throughput", 10},        {"gpu_l2_throughput", 15},
                    {"gpu_theoretical_occupancy", 100}, {"gpu_limit_registers", 16},
                    {"gpu_achieved_occupancy", 95}};
  const auto idle_and = [&](Values changes) {
    changes.insert(changes.begin(), idle.begin(), idle.end());
    return with(changes);
  };
  const std::vector<std::pair<std::string, std::vector<Metric>>> scenes{
      {"barrier_stalls", idle_and({{"gpu_stall_barrier", 14}, {"gpu_stall_long_scoreboard", 1}})},
      {"divergence", idle_and({{"gpu_threads_per_instruction", 5},
                               {"gpu_issue_active", 85},
                               {"gpu_sm_throughput", 70}})},
      {"low_occupancy_shared", idle_and({{"gpu_limit_shared", 2},
                                         {"gpu_theoretical_occupancy", 12.5},
                                         {"gpu_achieved_occupancy", 12}})},
      {"low_occupancy_registers", idle_and({{"gpu_limit_registers", 2},
                                            {"gpu_theoretical_occupancy", 12.5},
                                            {"gpu_achieved_occupancy", 12}})},
      {"spills", idle_and({{"gpu_spills", 1e6}, {"gpu_spill_requests", 80}})},
      {"atomics_contention", idle_and({{"gpu_atomics", 2e6}})},
      {"launch_overhead", idle_and({{"gpu_kernel_time", 2.1},
                                    {"time_ms", 0.02},
                                    {"gpu_launch_gap", 16},
                                    {"gpu_kernels", 4}})},
      {"tail_effect", with({{"gpu_waves", 1.1},
                            {"gpu_memory_throughput", 45},
                            {"gpu_dram_throughput", 20},
                            {"gpu_l2_throughput", 20},
                            {"gpu_sm_throughput", 55},
                            {"gpu_theoretical_occupancy", 85},
                            {"gpu_achieved_occupancy", 80},
                            {"gpu_issue_active", 82}})},
      {"tensor_cores_unused", with({{"gpu_sm_throughput", 87.29},
                                    {"gpu_memory_throughput", 59.73},
                                    {"gpu_dram_throughput", 2.67},
                                    {"gpu_l2_throughput", 20},
                                    {"gpu_issue_active", 85},
                                    {"arithmetic_intensity", 340},
                                    {"compute_share", 0.04}})},
      {"compute_pipe", with({{"gpu_sm_throughput", 90.29},
                             {"gpu_memory_throughput", 69.84},
                             {"gpu_dram_throughput", 12.33},
                             {"gpu_tensor_active", 90},
                             {"arithmetic_intensity", 340},
                             {"compute_share", 0.5}})},
      {"l2_misses", with({{"gpu_l2_hit_rate", 20},
                          {"gpu_dram_bytes", 1.2e9},
                          {"task_flops", 4e9},
                          {"arithmetic_intensity", 40},
                          {"gpu_dram_throughput", 90},
                          {"gpu_memory_throughput", 58},
                          {"gpu_tensor_active", 20}})},
      {"latency_bound",
       idle_and({{"gpu_stall_long_scoreboard", 2}, {"gpu_stall_short_scoreboard", 1}})},
  };
  for (const auto& [cause, metrics] : scenes) {
    const std::vector<std::string> causes = Causes(metrics);
    ASSERT_FALSE(causes.empty()) << cause << "\n" << Describe(metrics);
    EXPECT_TRUE(causes[0] == cause) << cause << "\n" << Describe(metrics);
  }
  const std::vector<Metric> unfused =
      with({{"gpu_pipe_active", 85}, {"gpu_sm_throughput", 78}, {"gpu_memory_throughput", 40}});
  EXPECT_THAT(Causes(unfused), testing::Contains("not_fused_fp")) << Describe(unfused);
}

// A Triton matrix product whose few register spills are most of the memory requests, because its
// operands are loaded by another path.
TEST(GpuRules, SpillsThatAreFewOfTheInstructionsAreNoCause) {
  Values values = Launch(64, 128, 0.24,
                         {{"gpu_spills", 131072},
                          {"gpu_spill_requests", 49.25},
                          {"gpu_registers_per_thread", 255},
                          {"gpu_instructions", 36975360}});
  EXPECT_THAT(Causes(Pmu(values)), testing::Not(testing::Contains("spills")));
  values.back() = {"gpu_instructions", 5e6};
  EXPECT_THAT(Causes(Pmu(values)), testing::Contains("spills"));
}

// Unequal finishing times of the multiprocessors reveal a tail, whatever the occupancy says.
TEST(GpuRules, MultiprocessorsThatEndEarlyAreATail) {
  ExpectFirst("tail_effect", Launch(270, 1024, 1.9,
                                    {{"gpu_balance", 0.5},
                                     {"gpu_sm_throughput", 55},
                                     {"gpu_memory_throughput", 5},
                                     {"gpu_dram_throughput", 5},
                                     {"gpu_achieved_occupancy", 70},
                                     {"gpu_theoretical_occupancy", 75},
                                     {"gpu_issue_active", 95}}));
}

TEST(GpuRules, SeveralKernelsThatMoveMoreThanTheTaskNeedsShouldBeOne) {
  ExpectFirst("unfused_kernels", Launch(262144, 256, 248,
                                        {{"gpu_kernels", 6},
                                         {"gpu_kernel_time", 1320},
                                         {"time_ms", 1.34},
                                         {"compulsory_bytes", 537e6},
                                         {"gpu_dram_bytes", 3.2e9},
                                         {"gpu_sm_throughput", 36},
                                         {"gpu_memory_throughput", 70.6},
                                         {"gpu_dram_throughput", 70.6},
                                         {"gpu_l2_hit_rate", 45}}));
}

TEST(GpuRules, WithoutCountersTheLaunchFactsStillSpeak) {
  const std::vector<Metric> metrics{{"gpu_grid", 8, "1", "static"},
                                    {"gpu_waves", 0.01, "1", "static"},
                                    {"gpu_multiprocessors", 132, "1", "static"},
                                    {"gpu_kernel_time", 900, "us", "measured"}};
  EXPECT_THAT(Causes(metrics), testing::Contains("grid_too_small")) << Describe(metrics);
}

}  // namespace
}  // namespace pragma
