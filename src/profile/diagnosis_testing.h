// LoopModel: the metrics that a simple core would produce for a loop, as input for diagnosis tests.
//
// One iteration takes the longer of the core's part (instructions, loads, stores, ports, dependency
// chain) and the memory's part (lines streamed, or lines waited for). Added to it are a fifth of
// the shorter part, because overlap is never perfect, and the cost of events that nothing hides.
// The costs differ from those of knowledge/diagnosis/cpu.toml on purpose, as another machine's
// would.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/profile.h"

namespace pragma {

// All amounts are per iteration unless stated otherwise.
struct LoopModel {
  double iterations = 1e7;
  double instructions = 5;
  double scalar_fp = 0;
  double vector_fp = 0;
  double vector_bits = 512;  // width of the packed instructions
  double multiplications = 1;
  double loads = 2;
  double stores = 0;
  double spilled = 0;      // spilled loads and stores
  double chain = 0;        // cycles from one iteration to the next
  double port_cycles = 0;  // cycles that shuffles, conversions and the like occupy their unit
  double branches = 1;
  double mispredicts = 0;
  double libm_elements = 0;  // one call for each element
  double divisions = 0;
  double scalar_divisions = 0;  // the part of them, from 0 to 1
  double division_cycles = 5;
  double conversions = 0;
  double shuffles = 0;
  double gathers = 0;
  double atomics = 0;
  double splits = 0;
  double aliases = 0;
  double l1_misses = 0;
  double l2_misses = 0;
  double l3_misses = 0;
  double overlap = 0;  // misses in flight at once; 0: a stream, which is prefetched
  double walks = 0;
  double line_use = 1;
  double conflicts = 0;
  double fetch_cycles = 0;       // cycles lost to fetching large code
  double hot_instructions = 60;  // static count
  double roofline_share = 0.05;
  bool mca = true;  // llvm-mca can read the hot loop
  // The following amounts are per call.
  double faults = 0;
  double threads = 1;
  double efficiency = 1;    // efficiency of the working threads
  double imbalance = 1;     // busiest thread over the mean; equal to `threads`: serial
  double serial_share = 0;  // of the one-thread time, outside of the parallel regions
  double waiting = 0;       // of the threads' time, inside the regions
  double singles = 0;       // parts of regions for one thread
  double dispatches = 0;    // tasks and chunks handed out
  double regions = 0;
  double region_loss_us = 0;  // time lost per parallel region, with all threads
};

// Cycles of the parts of one iteration, and times of one call.
struct LoopTimes {
  double throughput = 0;  // the core's part, without the dependency chain
  double core = 0;
  double memory = 0;
  double iteration = 0;
  double wall_1_ms = 0;
  double wall_ms = 0;
};

inline constexpr double kModelClock = 4.1;         // GHz
inline constexpr double kModelFaultMs = 0.0013;    // ms per page
inline constexpr double kModelBandwidth = 39.6e6;  // bytes per millisecond

inline double MemoryCycles(const LoopModel& loop) {
  const double l2 = loop.l1_misses - loop.l2_misses;
  const double l3 = loop.l2_misses - loop.l3_misses;
  const double stream = 1.5 * l2 + 3 * l3 + 7 * loop.l3_misses;
  if (loop.overlap == 0) return stream;
  const double wait = 15 * l2 + 55 * l3 + 350 * loop.l3_misses;
  return std::max(stream, wait / loop.overlap) + 40 * loop.walks / std::min(loop.overlap, 2.0);
}

inline LoopTimes TimesOf(const LoopModel& loop) {
  LoopTimes times;
  times.throughput = std::max({loop.instructions / 5, loop.loads / 2, loop.stores, loop.port_cycles,
                               loop.divisions * loop.division_cycles});
  times.core = std::max(times.throughput, loop.chain);
  times.memory = MemoryCycles(loop);
  times.iteration = std::max(times.core, times.memory) + 0.2 * std::min(times.core, times.memory) +
                    16 * loop.mispredicts + 15 * loop.libm_elements + 0.5 * loop.splits +
                    5 * loop.aliases + 22 * loop.atomics + 24 * loop.gathers + 0.4 * loop.spilled +
                    loop.fetch_cycles;
  times.wall_1_ms =
      loop.iterations * times.iteration / (kModelClock * 1e6) + loop.faults * kModelFaultMs;
  times.wall_ms =
      times.wall_1_ms * loop.imbalance / (loop.threads * loop.efficiency * (1 - loop.waiting)) +
      loop.regions * loop.region_loss_us / 1e3;
  return times;
}

inline void AddCounts(const LoopModel& loop, std::vector<Metric>& metrics) {
  const auto add = [&](const char* tag, double each) {
    metrics.push_back({tag, each * loop.iterations, "1", "exact count"});
  };
  const double lanes = loop.vector_bits / 32;
  const double flops = loop.scalar_fp + lanes * loop.vector_fp;
  const double fp = loop.scalar_fp + loop.vector_fp;
  const double bytes = fp > 0 ? 4 * flops / fp : 4;  // bytes per access
  add("instructions", loop.instructions);
  add("flops", flops);
  add("scalar_fp", loop.scalar_fp);
  add("vector_fp", loop.vector_fp);
  add("loads", loop.loads);
  add("stores", loop.stores);
  add("load_bytes", loop.loads * bytes);
  add("store_bytes", loop.stores * bytes);
  add("nt_stores", 0);
  add("branches", loop.branches);
  add("libm_calls", loop.libm_elements);
  add("libm_elements", loop.libm_elements);
  add("division_count", loop.divisions);
  add("scalar_division_count", loop.divisions * loop.scalar_divisions);
  add("conversion_count", loop.conversions);
  add("shuffle_count", loop.shuffles);
  add("gather_count", loop.gathers);
  add("atomic_count", loop.atomics);
  const auto ratio = [&](const char* tag, double value) {
    metrics.push_back({tag, value, "1", "exact count"});
  };
  if (flops > 0) ratio("vector_share", lanes * loop.vector_fp / flops);
  if (fp > 0) ratio("vector_bits", (32 * loop.scalar_fp + loop.vector_bits * loop.vector_fp) / fp);
  if (loop.multiplications > 0) {
    ratio("loads_per_fma", loop.loads / loop.multiplications);
    ratio("stores_per_fma", loop.stores / loop.multiplications);
  }
  ratio("spill_traffic", loop.spilled / std::max(1e-9, loop.loads + loop.stores));
  ratio("l1_intensity", flops / std::max(1e-9, bytes * (loop.loads + loop.stores)));
  ratio("parallel_regions", loop.regions);
  ratio("barriers", loop.regions);
  ratio("dispatches", loop.dispatches);
  ratio("lock_calls", 0);
  ratio("single_sections", loop.singles);
  ratio("hot_instructions", loop.hot_instructions);
}

inline void AddTrace(const LoopModel& loop, std::vector<Metric>& metrics) {
  const auto add = [&](const char* tag, double each) {
    metrics.push_back({tag, each * loop.iterations, "1", "simulated"});
  };
  add("l1_misses", loop.l1_misses);
  add("l2_misses", loop.l2_misses);
  add("l3_misses", loop.l3_misses);
  add("line_splits", loop.splits);
  add("dtlb_misses", loop.walks);
  add("dtlb2_misses", loop.walks);
  add("aliasing_4k", loop.aliases);
  add("branch_mispredicts", loop.mispredicts);
  const auto ratio = [&](const char* tag, double value) {
    metrics.push_back({tag, value, "1", "simulated"});
  };
  ratio("split_share", loop.splits / std::max(1e-9, loop.loads + loop.stores));
  ratio("mispredict_share", loop.mispredicts / std::max(1e-9, loop.branches));
  ratio("line_use", loop.line_use);
  ratio("conflict_share", loop.conflicts);
}

inline void AddHotLoop(const LoopModel& loop, const LoopTimes& times,
                       std::vector<Metric>& metrics) {
  if (!loop.mca) return;
  const bool chained = loop.chain > times.throughput;
  const bool ports = times.throughput > loop.instructions / 5;
  metrics.push_back({"hot_loop_share", 0.92, "1", "sampled"});
  metrics.push_back({"loop_cycles", times.iteration, "1", "sampled"});
  metrics.push_back({"mca_cycles_per_iteration", times.core, "1", "static"});
  metrics.push_back({"mca_dependency_share", chained ? 0.86 : 0.1, "1", "static"});
  metrics.push_back({"mca_resource_pressure", ports && !chained ? 0.7 : 0.2, "1", "static"});
  metrics.push_back({"mca_throughput_cycles", times.throughput, "1", "static"});
  metrics.push_back({"measured_over_mca", times.iteration / times.core, "1", "estimated"});
}

inline void AddClocks(const LoopModel& loop, const LoopTimes& times, std::vector<Metric>& metrics) {
  const auto add = [&](const char* tag, double value) {
    metrics.push_back({tag, value, "1", "measured"});
  };
  add("time_ms", times.wall_ms);
  add("wall_ms", times.wall_ms);
  add("wall_1_ms", times.wall_1_ms);
  add("threads", loop.threads);
  add("thread_scaling", times.wall_1_ms / (loop.threads * times.wall_ms));
  add("cpu_per_wall", loop.threads / loop.imbalance);
  add("thread_imbalance", loop.imbalance);
  add("waiting_share", std::max(loop.waiting, 1 - 1 / loop.imbalance));
  if (loop.regions > 0) add("serial_share", loop.serial_share);
  add("page_faults", loop.faults);
  add("system_share", 0.95 * loop.faults * kModelFaultMs / times.wall_1_ms);
  add("core_clock", kModelClock);
  const double cycles = times.wall_1_ms * kModelClock * 1e6;
  metrics.push_back({"cycles", cycles, "1", "estimated"});
  metrics.push_back({"ipc", loop.instructions * loop.iterations / cycles, "1", "estimated"});
  const double dram = 64 * 1.1 * loop.l3_misses * loop.iterations;
  metrics.push_back(
      {"dram_traffic_share", dram / (times.wall_ms * kModelBandwidth), "1", "simulated"});
  metrics.push_back({"roofline_share", loop.roofline_share, "1", "estimated"});
  metrics.push_back({"bandwidth_share", loop.roofline_share, "1", "estimated"});
  metrics.push_back({"bound_ms", loop.roofline_share * times.wall_ms, "ms", "estimated"});
}

[[nodiscard]] inline std::vector<Metric> MetricsOf(const LoopModel& loop) {
  const LoopTimes times = TimesOf(loop);
  std::vector<Metric> metrics;
  AddClocks(loop, times, metrics);
  AddCounts(loop, metrics);
  AddTrace(loop, metrics);
  AddHotLoop(loop, times, metrics);
  return metrics;
}

}  // namespace pragma
