// Tests the model that instrumented kernels report to, against plain simulations and known results.
#include "worker/profiler/trace_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <random>
#include <thread>
#include <vector>

namespace pragma {
namespace {

// The sites by kind: 0 is a load of 4 bytes, 1 a store of 4, 2 a load of 64, 3 a prefetch, 4 a
// non-temporal store of 64, 5 an update of 8.
const trace_site kSites[] = {{4, TRACE_LOAD, 0, 1},      {4, TRACE_STORE, 0, 1},
                             {64, TRACE_LOAD, 0, 1},     {1, TRACE_PREFETCH, 0, 1},
                             {64, TRACE_NT_STORE, 0, 1}, {8, TRACE_LOAD_AND_STORE, 0, 1}};

trace_model_config SmallConfig() {
  trace_model_config config{};
  config.l1 = {8, 2};
  config.l2 = {16, 4};
  config.l3 = {24, 4};  // not a power of two
  config.dtlb = {1, 4};
  config.dtlb2 = {4, 4};
  config.line_bytes = 64;
  config.page_bytes = 4096;
  config.sites = kSites;
  config.site_count = 6;
  config.branch_count = 3;
  return config;
}

trace_model_totals Totals() {
  trace_model_totals totals;
  trace_model_results(&totals);
  return totals;
}

class PlainLru {
 public:
  explicit PlainLru(std::size_t ways) : ways_(ways) {}
  bool Touch(std::uint64_t line) {
    const auto found = std::ranges::find(lines_, line);
    const bool hit = found != lines_.end();
    if (hit) lines_.erase(found);
    lines_.push_front(line);
    if (lines_.size() > ways_) lines_.pop_back();
    return hit;
  }

 private:
  std::size_t ways_;
  std::list<std::uint64_t> lines_;
};

class PlainCache {
 public:
  explicit PlainCache(trace_cache_shape shape) : sets_(shape.sets, PlainLru(shape.ways)) {}
  bool Touch(std::uint64_t line) { return sets_[line % sets_.size()].Touch(line); }

 private:
  std::vector<PlainLru> sets_;
};

TEST(TraceModel, CountsWhatAPlainSimulationCounts) {
  const trace_model_config config = SmallConfig();
  ASSERT_EQ(trace_model_init(&config), 0);
  PlainCache l1(config.l1);
  PlainCache l2(config.l2);
  PlainCache l3(config.l3);
  PlainCache full({1, 16});
  PlainCache dtlb(config.dtlb);
  PlainCache dtlb2(config.dtlb2);
  trace_model_totals wanted{};
  std::mt19937 random(7);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t address =
        (random() % (random() % 4 == 0 ? 40U : 8U)) * 1024 + random() % 512;
    trace_model_access(address, random() % 2);
    std::vector<std::uint64_t> lines{address / 64};
    if ((address + 3) / 64 != lines[0]) lines.push_back((address + 3) / 64);
    wanted.line_splits += lines.size() - 1;
    for (const std::uint64_t line : lines) {
      const bool in_full = full.Touch(line);
      if (l1.Touch(line)) continue;
      ++wanted.l1_misses;
      wanted.conflict_misses += in_full ? 1 : 0;
      if (l2.Touch(line)) continue;
      ++wanted.l2_misses;
      wanted.l3_misses += l3.Touch(line) ? 0 : 1;
    }
    for (std::uint64_t page = address / 4096; page <= (address + 3) / 4096; ++page) {
      if (dtlb.Touch(page)) continue;
      ++wanted.dtlb_misses;
      wanted.dtlb2_misses += dtlb2.Touch(page) ? 0 : 1;
    }
  }
  const trace_model_totals totals = Totals();
  EXPECT_EQ(totals.accesses, 200000U);
  EXPECT_EQ(totals.line_splits, wanted.line_splits);
  EXPECT_EQ(totals.l1_misses, wanted.l1_misses);
  EXPECT_EQ(totals.l2_misses, wanted.l2_misses);
  EXPECT_EQ(totals.l3_misses, wanted.l3_misses);
  EXPECT_EQ(totals.conflict_misses, wanted.conflict_misses);
  EXPECT_EQ(totals.dtlb_misses, wanted.dtlb_misses);
  EXPECT_EQ(totals.dtlb2_misses, wanted.dtlb2_misses);
  EXPECT_GT(wanted.conflict_misses, 0U);
  EXPECT_GT(wanted.l3_misses, 0U);
  EXPECT_EQ(trace_model_sites()[0].l1_misses + trace_model_sites()[1].l1_misses, wanted.l1_misses);
}

TEST(TraceModel, ResettingCountsKeepsTheCachesWarm) {
  const trace_model_config config = SmallConfig();
  ASSERT_EQ(trace_model_init(&config), 0);
  for (std::uint64_t at = 0; at < 1024; at += 64) trace_model_access(at, 2);
  EXPECT_EQ(Totals().l1_misses, 16U);
  trace_model_reset_counts();
  for (std::uint64_t at = 0; at < 1024; at += 64) trace_model_access(at, 2);
  EXPECT_EQ(Totals().l1_misses, 0U);
  EXPECT_EQ(Totals().accesses, 16U);
  EXPECT_EQ(trace_model_sites()[2].accesses, 16U);
}

TEST(TraceModel, LineUseIsTheTouchedShare) {
  const trace_model_config config = SmallConfig();
  ASSERT_EQ(trace_model_init(&config), 0);
  for (std::uint64_t line = 0; line < 1000; ++line) trace_model_access(line * 64 + 8, 0);
  EXPECT_EQ(Totals().used_lines, 1000U);
  EXPECT_EQ(Totals().used_bytes, 4000U);
  ASSERT_EQ(trace_model_init(&config), 0);
  for (std::uint64_t at = 0; at < 64000; at += 4) trace_model_access(at, 0);
  EXPECT_EQ(Totals().used_bytes, 64 * Totals().used_lines);
}

TEST(TraceModel, PrefetchesFillAndNonTemporalStoresBypass) {
  const trace_model_config config = SmallConfig();
  ASSERT_EQ(trace_model_init(&config), 0);
  trace_model_access(640, 3);
  EXPECT_EQ(Totals().accesses, 0U);
  EXPECT_EQ(Totals().prefetched_lines, 1U);
  trace_model_access(640, 0);
  EXPECT_EQ(Totals().l1_misses, 0U);
  trace_model_access(640, 4);
  EXPECT_EQ(Totals().nt_store_bytes, 64U);
  EXPECT_EQ(Totals().l1_misses, 0U);
  trace_model_access(640, 0);
  EXPECT_EQ(Totals().l3_misses, 1U);
}

TEST(TraceModel, Aliasing) {
  const trace_model_config config = SmallConfig();
  ASSERT_EQ(trace_model_init(&config), 0);
  trace_model_access(0x10010, 1);
  trace_model_access(0x10010, 0);  // the store is forwarded to this load
  trace_model_access(0x24010, 0);
  EXPECT_EQ(Totals().aliased_loads, 1U);
  trace_model_access(0x24000, 2);  // this load overlaps the store
  EXPECT_EQ(Totals().aliased_loads, 2U);
  trace_model_access(0x24080, 0);
  EXPECT_EQ(Totals().aliased_loads, 2U);
  for (int i = 0; i < 48; ++i) trace_model_access(0x50800, 1);
  trace_model_access(0x24010, 0);  // the store was written long before
  EXPECT_EQ(Totals().aliased_loads, 2U);
}

TEST(TraceModel, BranchesThatFollowAPatternArePredicted) {
  const trace_model_config config = SmallConfig();
  ASSERT_EQ(trace_model_init(&config), 0);
  std::mt19937 random(3);
  for (int i = 0; i < 10000; ++i) {
    trace_model_branch(0, i % 8 != 7 ? 1 : 0);  // a loop of eight iterations
  }
  EXPECT_LT(trace_model_branches()[0].mispredicted, 100U);
  for (int i = 0; i < 10000; ++i) trace_model_branch(1, static_cast<int>(random() & 1U));
  EXPECT_GT(trace_model_branches()[1].mispredicted, 4000U);
  EXPECT_LT(trace_model_branches()[1].mispredicted, 6000U);
  EXPECT_EQ(trace_model_branches()[0].taken, 8750U);
  EXPECT_EQ(Totals().branches, 20000U);
  EXPECT_EQ(Totals().mispredictions,
            trace_model_branches()[0].mispredicted + trace_model_branches()[1].mispredicted);
}

int g_finished;

TEST(TraceModel, ClosesOnceWhenTheBudgetIsSpent) {
  trace_model_config config = SmallConfig();
  config.access_budget = 100;
  config.finish = [] { ++g_finished; };
  ASSERT_EQ(trace_model_init(&config), 0);
  g_finished = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    trace_model_access(i * 4, 0);
    trace_model_branch(0, 1);
  }
  EXPECT_EQ(g_finished, 1);
  EXPECT_EQ(Totals().accesses, 100U);
  EXPECT_EQ(Totals().branches, 99U);
  EXPECT_EQ(Totals().closed, 1U);
}

TEST(TraceModel, RefusesShapesAndNumbersThatMakeNoSense) {
  trace_model_config config = SmallConfig();
  config.line_bytes = 96;
  EXPECT_EQ(trace_model_init(&config), -1);
  config = SmallConfig();
  config.l1.ways = 0;
  EXPECT_EQ(trace_model_init(&config), -1);
  config = SmallConfig();
  config.l3 = {1U << 30U, 64};
  EXPECT_EQ(trace_model_init(&config), -1);
  config = SmallConfig();
  config.l3 = {};
  ASSERT_EQ(trace_model_init(&config), 0);  // a model without a third-level cache
  trace_model_access(0, 6);
  trace_model_branch(3, 1);
  EXPECT_EQ(Totals().accesses + Totals().branches, 0U);
  trace_model_access(0, 0);
  EXPECT_EQ(Totals().l3_misses, 1U);
}

TEST(TraceModel, OnlyCountsWhatOtherThreadsDo) {
  const trace_model_config config = SmallConfig();
  ASSERT_EQ(trace_model_init(&config), 0);
  trace_model_access(0, 0);
  std::thread([] {
    for (std::uint64_t i = 0; i < 100; ++i) trace_model_access(i * 64, 0);
    trace_model_branch(0, 1);
  }).join();
  EXPECT_EQ(Totals().accesses, 1U);
  EXPECT_EQ(Totals().l1_misses, 1U);
  EXPECT_EQ(Totals().branches, 0U);
  EXPECT_EQ(Totals().unseen, 100U);
}

}  // namespace
}  // namespace pragma
