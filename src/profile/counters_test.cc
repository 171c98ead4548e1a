#include "profile/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "profile/formula.h"
#include "worker/profiler/perf_events.h"

namespace pragma {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const CpuIdentity kCascadeLake{.vendor = "GenuineIntel", .family = 6, .model = 0x55, .stepping = 7};
const CpuIdentity kIceLake{.vendor = "GenuineIntel", .family = 6, .model = 0x6a};
const CpuIdentity kSapphireRapids{.vendor = "GenuineIntel", .family = 6, .model = 0x8f};
const CpuIdentity kGenoa{.vendor = "AuthenticAMD", .family = 0x19, .model = 0x11};
const CpuIdentity kTurin{.vendor = "AuthenticAMD", .family = 0x1a, .model = 0x02};
const CpuIdentity kN2{.vendor = "ARM", .model = 0xd49, .slots = 5};
const CpuIdentity kV2{.vendor = "ARM", .model = 0xd4f, .slots = 8};
const CpuIdentity kMilan{.vendor = "AuthenticAMD", .family = 0x19, .model = 0x01};

std::vector<CpuIdentity> Everyone() {
  return {kCascadeLake, kIceLake, kSapphireRapids, kGenoa, kTurin, kN2, kV2, kMilan};
}

using Counts = std::map<std::string, double>;

// Returns readings of every group that has one of these events, counted all of the time. Events
// without an entry in `counts` read as zero.
std::vector<CounterReading> Read(const CounterPlan& plan, const Counts& counts, double calls = 1) {
  std::vector<CounterReading> readings;
  for (const CounterGroup& group : plan.groups) {
    CounterReading reading{.group = group.name, .values = {}, .calls = calls, .wall_seconds = 0};
    bool any = false;
    for (const CounterEvent& event : group.events) {
      const auto found = counts.find(event.name);
      any = any || found != counts.end();
      reading.values.push_back({.value = found == counts.end() ? 0 : found->second,
                                .enabled_ns = 100,
                                .running_ns = 100});
    }
    if (any) readings.push_back(reading);
  }
  return readings;
}

double Value(const CounterOutcome& outcome, const std::string& tag) {
  const auto found = std::ranges::find(outcome.metrics, tag, &Metric::tag);
  return found == outcome.metrics.end() ? std::nan("") : found->value;
}

const CounterEvent& Event(const CounterPlan& plan, const std::string& name) {
  for (const CounterGroup& group : plan.groups) {
    const auto found = std::ranges::find(group.events, name, &CounterEvent::name);
    if (found != group.events.end()) return *found;
  }
  ADD_FAILURE() << name;
  return plan.groups.front().events.front();
}

TEST(CounterPlanTest, ProcessorsAreKnownByVendorFamilyAndModel) {
  EXPECT_EQ(FamilyOf(kCascadeLake), CounterFamily::kSkylakeServer);
  EXPECT_EQ(FamilyOf(kIceLake), CounterFamily::kIceLakeServer);
  EXPECT_EQ(FamilyOf(kSapphireRapids), CounterFamily::kSapphireRapids);
  EXPECT_EQ(FamilyOf(kGenoa), CounterFamily::kZen4);
  EXPECT_EQ(FamilyOf(kTurin), CounterFamily::kZen5);
  EXPECT_EQ(FamilyOf(kMilan), CounterFamily::kGeneric);
  EXPECT_EQ(FamilyOf(kV2), CounterFamily::kNeoverse);
  EXPECT_EQ(FamilyOf({}), CounterFamily::kGeneric);
}

TEST(CounterPlanTest, CpuinfoOfX86AndArm) {
  const CpuIdentity amd = IdentifyCpu(
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
      "model name\t: AMD EPYC\nstepping\t: 1\n");
  EXPECT_EQ(amd.vendor, "AuthenticAMD");
  EXPECT_EQ(amd.family, 25);
  EXPECT_EQ(amd.model, 17);
  EXPECT_EQ(FamilyOf(amd), CounterFamily::kZen4);
  const CpuIdentity arm =
      IdentifyCpu("CPU implementer\t: 0x41\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\n", "0x8\n");
  EXPECT_EQ(arm.vendor, "ARM");
  EXPECT_EQ(arm.model, 0xd4f);
  EXPECT_EQ(arm.slots, 8);
  EXPECT_EQ(FamilyOf(IdentifyCpu("garbage\n:::\nmodel : 99999999999999\n")),
            CounterFamily::kGeneric);
}

TEST(CounterPlanTest, NoGroupNeedsMoreCountersThanThereAre) {
  for (const CpuIdentity& cpu : Everyone()) {
    const CounterPlan plan = PlanCounters(cpu);
    const bool intel = cpu.vendor == "GenuineIntel";
    for (const CounterGroup& group : plan.groups) {
      // Intel has dedicated registers for cycles, instructions and the top-down shares.
      const auto general = std::ranges::count_if(group.events, [&](const CounterEvent& event) {
        const bool fixed = event.type == 0 && event.config < 2;
        const bool topdown = event.type == 4 && (event.config & 0xffU) == 0;
        return !intel || !(fixed || topdown);
      });
      EXPECT_LE(general, intel ? 4 : 6) << CounterFamilyName(plan.family) << " " << group.name;
      EXPECT_LE(group.events.size(), std::size_t{PE_MAX_EVENTS});
    }
  }
}

TEST(CounterPlanTest, EveryFormulaUsesOnlyEventsOfThePlan) {
  for (const CpuIdentity& cpu : Everyone()) {
    const CounterPlan plan = PlanCounters(cpu);
    for (const CounterFormula& formula : plan.formulas) {
      const auto names = FormulaNames(formula.formula);
      ASSERT_TRUE(names) << formula.formula << ": " << names.error().message;
      for (const std::string& name : *names) {
        const bool known = std::ranges::any_of(plan.groups, [&](const CounterGroup& group) {
          return std::ranges::find(group.events, name, &CounterEvent::name) != group.events.end();
        });
        EXPECT_TRUE(known) << name << " of " << formula.tag;
      }
    }
  }
}

TEST(CounterPlanTest, CodesAreEncodedAsTheKernelWantsThem) {
  const CounterPlan clx = PlanCounters(kCascadeLake);
  EXPECT_EQ(Event(clx, "fe_slots").config, 0x019cU);
  EXPECT_EQ(Event(clx, "stalls_mem").config, 0x140014a3U);
  EXPECT_EQ(Event(clx, "machine_clears").config, 0x10401c3U);  // edge is bit 18
  EXPECT_EQ(Event(PlanCounters(kSapphireRapids), "dtlb_walks").config, 0x0e12U);
  EXPECT_EQ(Event(clx, "dtlb_walks").config, 0x0e08U);
  const CounterPlan zen = PlanCounters(kTurin);
  EXPECT_EQ(Event(zen, "be_slots").config, 0x100001ea0U);  // event 0x1a0: its 1 goes to bit 32
  EXPECT_EQ(Event(zen, "fe_empty").config, 0x1080001a0U);
  EXPECT_EQ(Event(zen, "resyncs").config, 0x019fU);
  EXPECT_EQ(Event(PlanCounters(kGenoa), "resyncs").config, 0x0096U);
  EXPECT_EQ(EventList({"g", {{"a", 4, 0x1a0, 0}, {"b", 0, 1, 0}, {"c", 4, 2, 7}}}),
            "4:0x1a0 0:0x1 4:0x2:0x7");
}

TEST(CounterPlanTest, TheTopdownRegistersComeFirstWithSlotsLeading) {
  for (const CpuIdentity& cpu : {kIceLake, kSapphireRapids}) {
    const CounterPlan plan = PlanCounters(cpu);
    const auto group = std::ranges::find(plan.groups, "topdown", &CounterGroup::name);
    ASSERT_NE(group, plan.groups.end());
    EXPECT_EQ(group->events.front().config, 0x400U);
    EXPECT_EQ(group->events[1].config, 0x8000U);
  }
}

TEST(CounterMetricsTest, CascadeLake) {
  // 1000 cycles, 4000 slots: 400 not delivered, 2600 issued of which 2400 retired, 25 cycles of
  // recovery.
  const CounterOutcome outcome =
      CounterMetrics(PlanCounters(kCascadeLake),
                     Read(PlanCounters(kCascadeLake),
                          {{"cycles", 1000},        {"instructions", 2000}, {"branches", 200},
                           {"branch_misses", 10},   {"fe_slots", 400},      {"issued", 2600},
                           {"retired_slots", 2400}, {"recovery", 25},       {"stalls_mem", 150},
                           {"bound_on_stores", 50}, {"stalls_total", 200},  {"ports_1", 90},
                           {"ports_2", 100},        {"mispredicts", 3},     {"machine_clears", 1},
                           {"fe_empty", 40},        {"fused", 100},         {"l1_misses", 100},
                           {"l2_misses", 40},       {"l3_misses", 4},       {"dtlb_walks", 6},
                           {"split_loads", 12},     {"fp_scalar", 100},     {"fp_512", 300}}));
  EXPECT_DOUBLE_EQ(Value(outcome, "ipc"), 2);
  EXPECT_DOUBLE_EQ(Value(outcome, "mispredict_share"), 0.05);
  EXPECT_NEAR(Value(outcome, "topdown_frontend_bound"), 0.1, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_bad_speculation"), 0.075, 1e-12);  // (2600-2400+100)/4000
  EXPECT_NEAR(Value(outcome, "topdown_retiring"), 0.6, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_backend_bound"), 0.225, 1e-12);
  // (150+50) / (200 + 90 + 0.6*100 + 50) = 0.5
  EXPECT_NEAR(Value(outcome, "topdown_memory_bound"), 0.1125, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_core_bound"), 0.1125, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_branch_mispredicts"), 0.05625, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_machine_clears"), 0.01875, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_fetch_latency"), 0.04, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_fetch_bandwidth"), 0.06, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_heavy_operations"), 0.125, 1e-12);  // (2400+100-2000)/4000
  EXPECT_NEAR(Value(outcome, "topdown_light_operations"), 0.475, 1e-12);
  EXPECT_DOUBLE_EQ(Value(outcome, "l1_mpki"), 50);
  EXPECT_DOUBLE_EQ(Value(outcome, "dtlb2_misses"), 6);
  EXPECT_DOUBLE_EQ(Value(outcome, "split_loads"), 12);
  EXPECT_DOUBLE_EQ(Value(outcome, "fp_512_share"), 0.75);
  EXPECT_EQ(outcome.note.verdict, "ran");
  EXPECT_THAT(outcome.note.detail, IsEmpty());
}

TEST(CounterMetricsTest, IceLakeFromItsRegisters) {
  // 10,000 slots, of which the registers report 20, 10, 30 and 40 %.
  const CounterPlan plan = PlanCounters(kIceLake);
  const CounterOutcome outcome = CounterMetrics(plan, Read(plan, {{"cycles", 2000},
                                                                  {"slots", 10000},
                                                                  {"td_fe", 2000},
                                                                  {"td_bad", 1000},
                                                                  {"td_ret", 3000},
                                                                  {"td_be", 4000},
                                                                  {"dropped", 100},
                                                                  {"clears", 40},
                                                                  {"fe_empty", 100},
                                                                  {"stalls_mem", 300},
                                                                  {"bound_on_stores", 0},
                                                                  {"stalls_total", 400},
                                                                  {"ports_1", 140},
                                                                  {"ports_2", 200},
                                                                  {"mispredicts", 1},
                                                                  {"machine_clears", 0}}));
  EXPECT_NEAR(Value(outcome, "topdown_frontend_bound"), 0.19, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_backend_bound"), 0.42, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_retiring"), 0.3, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_bad_speculation"), 0.09, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_fetch_latency"), 0.04, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_fetch_bandwidth"), 0.15, 1e-12);
  // 300 / (400 + 140 + 0.3*200) = 0.5
  EXPECT_NEAR(Value(outcome, "topdown_memory_bound"), 0.21, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_branch_mispredicts"), 0.09, 1e-12);
}

TEST(CounterMetricsTest, WithoutThoseRegistersGeneralCountersGiveTheFirstLevel) {
  const CounterPlan plan = PlanCounters(kIceLake);
  std::vector<CounterReading> readings =
      Read(plan, {{"slots_p", 1000}, {"be_slots", 500}, {"fe_slots", 100}, {"retired_slots", 350}});
  // The group of the registers failed to open.
  CounterReading refused{.group = "topdown", .values = {}, .calls = 1, .wall_seconds = 0};
  refused.values.assign(8, {.value = 0, .enabled_ns = 0, .running_ns = 0, .error = EINVAL});
  readings.push_back(refused);
  const CounterOutcome outcome = CounterMetrics(plan, readings);
  EXPECT_NEAR(Value(outcome, "topdown_frontend_bound"), 0.1, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_backend_bound"), 0.5, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_bad_speculation"), 0.05, 1e-12);
  EXPECT_TRUE(std::isnan(Value(outcome, "topdown_memory_bound")));
}

TEST(CounterMetricsTest, SapphireRapids) {
  const CounterPlan plan = PlanCounters(kSapphireRapids);
  const CounterOutcome outcome = CounterMetrics(plan, Read(plan, {{"slots", 6000},
                                                                  {"td_ret", 2400},
                                                                  {"td_bad", 600},
                                                                  {"td_fe", 1200},
                                                                  {"td_be", 1800},
                                                                  {"td_heavy", 300},
                                                                  {"td_mispredict", 450},
                                                                  {"td_latency", 900},
                                                                  {"td_memory", 1200},
                                                                  {"dropped", 60}}));
  EXPECT_NEAR(Value(outcome, "topdown_frontend_bound"), 0.19, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_backend_bound"), 0.3, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_bad_speculation"), 0.11, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_memory_bound"), 0.2, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_core_bound"), 0.1, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_fetch_latency"), 0.14, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_fetch_bandwidth"), 0.05, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_machine_clears"), 0.035, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_heavy_operations"), 0.05, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_light_operations"), 0.35, 1e-12);
}

// Returns counts for `width` slots in each of 1000 cycles: 20 % front end, 30 % back end, 10 % the
// other thread, 5 % speculation, 35 % retired.
Counts ZenCounts(double width) {
  const double slots = 1000 * width;
  return {{"cycles", 1000},
          {"fe_slots", 0.2 * slots},
          {"be_slots", 0.3 * slots},
          {"dispatched", 0.4 * slots},
          {"retired_ops", 0.35 * slots},
          {"smt_slots", 0.1 * slots},
          {"fe_empty", 150},
          {"wait_load", 60},
          {"wait_any", 80},
          {"mispredicts", 9},
          {"resyncs", 1},
          {"microcoded", 0.07 * slots},
          {"instructions", 2000},
          {"fills", 100},
          {"fills_l2", 70},
          {"fills_l3", 20},
          {"dtlb_walks", 3},
          {"fp_scalar", 1},
          {"fp_256", 3},
          {"split_loads", 5}};
}

TEST(CounterMetricsTest, Zen4AndZen5DifferInWidth) {
  for (const auto& [cpu, width] : {std::pair{kGenoa, 6}, std::pair{kTurin, 8}}) {
    const CounterPlan plan = PlanCounters(cpu);
    EXPECT_EQ(plan.width, width);
    const CounterOutcome outcome = CounterMetrics(plan, Read(plan, ZenCounts(width)));
    EXPECT_THAT(outcome.note.detail, IsEmpty());
    EXPECT_NEAR(Value(outcome, "topdown_frontend_bound"), 0.2, 1e-12);
    EXPECT_NEAR(Value(outcome, "topdown_backend_bound"), 0.3, 1e-12);
    EXPECT_NEAR(Value(outcome, "topdown_bad_speculation"), 0.05, 1e-12);
    EXPECT_NEAR(Value(outcome, "topdown_retiring"), 0.35, 1e-12);
    EXPECT_NEAR(Value(outcome, "topdown_smt_contention"), 0.1, 1e-12);
    EXPECT_NEAR(Value(outcome, "topdown_fetch_latency"), 0.15, 1e-12);
    EXPECT_NEAR(Value(outcome, "topdown_fetch_bandwidth"), 0.05, 1e-12);
    EXPECT_NEAR(Value(outcome, "topdown_memory_bound"), 0.225, 1e-12);
    EXPECT_NEAR(Value(outcome, "topdown_core_bound"), 0.075, 1e-12);
    EXPECT_NEAR(Value(outcome, "topdown_branch_mispredicts"), 0.045, 1e-12);
    EXPECT_NEAR(Value(outcome, "topdown_heavy_operations"), 0.07, 1e-12);
    EXPECT_DOUBLE_EQ(Value(outcome, "l1_misses"), 100);
    EXPECT_DOUBLE_EQ(Value(outcome, "l2_misses"), 30);
    EXPECT_DOUBLE_EQ(Value(outcome, "l3_misses"), 10);
    EXPECT_DOUBLE_EQ(Value(outcome, "l2_mpki"), 15);
    EXPECT_DOUBLE_EQ(Value(outcome, "fp_256_share"), 0.75);
    EXPECT_DOUBLE_EQ(Value(outcome, "fp_scalar_share"), 0.25);
  }
}

TEST(CounterMetricsTest, NeoverseWithFiveAndWithEightSlots) {
  const Counts shared{
      {"cycles", 1000},       {"ops_spec", 1000}, {"ops_retired", 900}, {"stall_be", 400},
      {"stall_memory", 100},  {"vfp", 10},        {"simd", 30},         {"sve", 0},
      {"instructions", 1000}, {"l1_misses", 8}};
  Counts n2 = shared;
  n2.insert({{"fe_slots", 2000}, {"be_slots", 1500}, {"stalled_slots", 3500}});
  const CounterPlan five = PlanCounters(kN2);
  CounterOutcome outcome = CounterMetrics(five, Read(five, n2));
  EXPECT_NEAR(Value(outcome, "topdown_frontend_bound"), 0.2, 1e-12);  // (2000-1000)/5000
  EXPECT_NEAR(Value(outcome, "topdown_backend_bound"), 0.3, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_retiring"), 0.45, 1e-12);  // 0.9 * (1-2500/5000)
  EXPECT_NEAR(Value(outcome, "topdown_bad_speculation"), 0.05, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_memory_bound"), 0.075, 1e-12);
  EXPECT_DOUBLE_EQ(Value(outcome, "fp_scalar_share"), 0.25);
  Counts v2 = shared;
  v2.insert({{"fe_slots", 2400}, {"be_slots", 1600}, {"stalled_slots", 4000}});
  const CounterPlan eight = PlanCounters(kV2);
  outcome = CounterMetrics(eight, Read(eight, v2));
  EXPECT_NEAR(Value(outcome, "topdown_frontend_bound"), 0.3, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_backend_bound"), 0.2, 1e-12);
  EXPECT_NEAR(Value(outcome, "topdown_retiring"), 0.45, 1e-12);
}

TEST(CounterMetricsTest, CountsAreOfOneCall) {
  const CounterPlan plan = PlanCounters(kMilan);
  const CounterOutcome outcome =
      CounterMetrics(plan, Read(plan, {{"instructions", 5000}, {"cycles", 2500}}, 10));
  EXPECT_DOUBLE_EQ(Value(outcome, "instructions"), 500);
  EXPECT_DOUBLE_EQ(Value(outcome, "ipc"), 2);
}

TEST(CounterMetricsTest, SharesThatDoNotSumToOneAreLeftOutAndTold) {
  const CounterPlan plan = PlanCounters(kGenoa);
  Counts counts = ZenCounts(6);
  counts["be_slots"] += 0.04 * 6000;
  const CounterOutcome outcome = CounterMetrics(plan, Read(plan, counts));
  EXPECT_TRUE(std::isnan(Value(outcome, "topdown_backend_bound")));
  EXPECT_TRUE(std::isnan(Value(outcome, "topdown_memory_bound")));
  EXPECT_THAT(outcome.note.detail, HasSubstr("sum to 1.04"));
  EXPECT_FALSE(std::isnan(Value(outcome, "ipc")));
  counts["be_slots"] -= 0.02 * 6000;
  EXPECT_FALSE(
      std::isnan(Value(CounterMetrics(plan, Read(plan, counts)), "topdown_backend_bound")));
}

TEST(CounterMetricsTest, ValuesCountedPartOfTheTimeAreScaledOrDropped) {
  const CounterPlan plan = PlanCounters(kMilan);
  std::vector<CounterReading> readings =
      Read(plan, {{"instructions", 1000}, {"cycles", 1000}, {"branch_misses", 10}});
  readings[0].values[1].running_ns = 50;  // instructions: half
  readings[0].values[3].running_ns = 24;  // branch misses: too little
  const CounterOutcome outcome = CounterMetrics(plan, readings);
  EXPECT_DOUBLE_EQ(Value(outcome, "instructions"), 2000);
  EXPECT_TRUE(std::isnan(Value(outcome, "branch_misses")));
  EXPECT_THAT(outcome.note.detail, HasSubstr("branch_misses was counted 24 % of the time"));
}

TEST(CounterMetricsTest, CyclesThatDisagreeWithTheClockAreNoise) {
  const CounterPlan plan = PlanCounters(kMilan);
  std::vector<CounterReading> readings = Read(plan, {{"cycles", 8e6}}, 2);
  readings[0].wall_seconds = 2e-3;  // 4 GHz
  EXPECT_THAT(CounterMetrics(plan, readings, 4.0).note.detail, IsEmpty());
  EXPECT_THAT(CounterMetrics(plan, readings, 4.6).note.detail, IsEmpty());
  EXPECT_THAT(CounterMetrics(plan, readings, 5.0).note.detail, HasSubstr("noisy"));
  EXPECT_THAT(CounterMetrics(plan, readings, 0).note.detail, IsEmpty());
}

TEST(CounterMetricsTest, NothingOpenedIsAbsentOrRefused) {
  const CounterPlan plan = PlanCounters(kGenoa);
  const auto with = [&](int error) {
    std::vector<CounterReading> readings = Read(plan, ZenCounts(6));
    for (CounterReading& reading : readings) {
      for (CounterValue& value : reading.values) value = {.error = error};
    }
    return CounterMetrics(plan, readings);
  };
  EXPECT_EQ(with(ENOENT).note.verdict, "absent");
  EXPECT_EQ(with(EACCES).note.verdict, "refused");
  EXPECT_THAT(with(EPERM).metrics, IsEmpty());
}

TEST(CounterRefusalTest, EachErrorSaysWhatToDo) {
  EXPECT_THAT(CounterRefusal(ENOENT, 2).detail, HasSubstr("virtual machine"));
  EXPECT_EQ(CounterRefusal(EACCES, 4).verdict, "refused");
  EXPECT_THAT(CounterRefusal(EACCES, 4).detail, HasSubstr("perf_event_paranoid is 4"));
  EXPECT_THAT(CounterRefusal(EPERM, 2).detail, HasSubstr("container"));
  EXPECT_EQ(CounterRefusal(ENOSYS, 2).verdict, "absent");
  EXPECT_EQ(CounterRefusal(EMFILE, 2).verdict, "failed");
}

TEST(CounterValuesTest, LinesOfTheHelperComeBack) {
  const pe_value values[2] = {{123456789012345ULL, 200, 100, 0}, {0, 0, 0, ENOENT}};
  char text[200];
  ASSERT_GT(pe_format(values, 2, text, sizeof(text)), 0U);
  const auto read = ParseCounterValues(text);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].value, 123456789012345.0);
  EXPECT_EQ((*read)[0].running_ns, 100);
  EXPECT_EQ((*read)[1].error, ENOENT);
  EXPECT_EQ(pe_format(values, 2, text, 10), 0U);
  for (const char* bad : {"1 2 3", "1 2 3 4 5", "x 2 3 4", "-1 2 3 0", "nan 1 1 0", "1,2,3,4"})
    EXPECT_FALSE(ParseCounterValues(bad)) << bad;
}

TEST(PerfEventsTest, ListsThatCannotBeReadOpenNothing) {
  pe_set set;
  for (const char* bad : {"x", "1", "1:", "1:2:", "1:2:3:4", "1:2 x", "99999999999:1", "-1:2"})
    EXPECT_EQ(pe_open(&set, bad), -1) << bad;
  std::string many;
  for (int i = 0; i <= PE_MAX_EVENTS; ++i) many += "1:1 ";
  EXPECT_EQ(pe_open(&set, many.c_str()), -1);
  EXPECT_EQ(pe_open(&set, ""), 0);
}

// Touches fresh pages in a separate thread.
void TouchPages(std::size_t pages) {
  std::thread([pages] {
    const std::size_t bytes = pages * 4096;
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    ::madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < bytes; i += 4096) static_cast<volatile char*>(memory)[i] = 1;
    ::munmap(memory, bytes);
  }).join();
}

TEST(PerfEventsTest, SoftwareEventsOfLaterThreadsAreCountedBetweenStartAndStop) {
  pe_set set;
  const int opened = pe_open(&set, "1:1 1:2");  // task-clock, page-faults
  if (opened == 0) GTEST_SKIP() << CounterRefusal(set.error[0], PerfEventParanoid()).detail;
  ASSERT_EQ(opened, 2);
  ASSERT_EQ(pe_start(&set), 0);
  TouchPages(2000);
  ASSERT_EQ(pe_stop(&set), 0);
  TouchPages(2000);
  pe_value values[2];
  pe_read(&set, values);
  pe_close(&set);
  EXPECT_GT(values[0].value, 0U);
  EXPECT_GE(values[1].value, 2000U);
  EXPECT_LT(values[1].value, 3000U);
  EXPECT_EQ(values[1].error, 0);
}

TEST(PerfEventsTest, AnEventThatIsNotThereSaysWhyAndTheOthersCount) {
  pe_set set;
  const int opened = pe_open(&set, "1:99999 1:2");
  if (opened == 0) GTEST_SKIP() << CounterRefusal(set.error[1], PerfEventParanoid()).detail;
  EXPECT_EQ(opened, 1);
  EXPECT_NE(set.error[0], 0);
  ASSERT_EQ(pe_start(&set), 0);
  TouchPages(100);
  pe_value values[2];
  pe_read(&set, values);
  pe_close(&set);
  EXPECT_NE(values[0].error, 0);
  EXPECT_GE(values[1].value, 100U);
}

TEST(CounterProbeTest, ThisMachineCountsOrSaysWhyNot) {
  const ProviderNote note = ProbeCounters(PlanCounters(ThisCpu()));
  pe_set set;
  const int opened = pe_open(&set, "0:1");
  const int error = set.error[0];
  pe_close(&set);
  if (opened == 1) {
    EXPECT_EQ(note.verdict, "ran");
  } else {
    EXPECT_EQ(note.verdict, CounterRefusal(error, PerfEventParanoid()).verdict);
    EXPECT_THAT(note.detail, Not(IsEmpty()));
  }
}

}  // namespace
}  // namespace pragma
