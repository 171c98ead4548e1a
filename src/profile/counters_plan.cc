// The event codes and formulas of each processor.
//
// Sources. Intel: github.com/intel/perfmon, {SKX,CLX,ICX,SPR}/events/*_core.json and
// metrics/*_metrics.json (Frontend_Bound, Bad_Speculation, Backend_Bound, Retiring, Memory_Bound,
// Core_Bound, Fetch_Latency, Branch_Mispredicts, Heavy_Operations). Both hardware threads of a core
// are treated as ours, because counting the other one requires a privilege. The codes of the
// top-down registers (slots 0x400, 0x8000 to 0x8700) are the Linux kernel's:
// tools/perf/Documentation/topdown.txt and arch/x86/events/intel/core.c. AMD: torvalds/linux
// tools/perf/pmu-events/arch/x86/amdzen4 and amdzen5 (pipeline.json, other.json, decode.json,
// core.json, cache.json, load-store.json, floating-point.json, branch-prediction.json). Arm:
// tools/perf/pmu-events/arch/arm64/arm/ neoverse-n2-v2/metrics.json,
// arch/arm64/common-and-microarch.json.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/counters.h"

namespace pragma {
namespace {

constexpr std::uint32_t kHardware = 0;
constexpr std::uint32_t kCache = 3;
constexpr std::uint32_t kRaw = 4;

CounterEvent Cycles() { return {"cycles", kHardware, 0, 0}; }
CounterEvent Instructions() { return {"instructions", kHardware, 1, 0}; }

CounterEvent Raw(std::string name, std::uint64_t config) {
  return {std::move(name), kRaw, config, 0};
}

struct Code {
  std::uint64_t event = 0;
  std::uint64_t mask = 0;
  std::uint64_t threshold = 0;  // "cmask"
  bool edge = false;
};

CounterEvent Intel(std::string name, const Code& code) {
  return Raw(std::move(name), code.event | code.mask << 8U |
                                  (code.edge ? std::uint64_t{1} << 18U : 0) |
                                  code.threshold << 24U);
}

// Encodes an AMD event. Its event number has twelve bits, and the upper four are stored far from
// the rest.
CounterEvent Amd(std::string name, const Code& code) {
  return Raw(std::move(name), (code.event & 0xffU) | code.mask << 8U | code.threshold << 24U |
                                  (code.event >> 8U) << 32U);
}

CounterEvent Arm(std::string name, std::uint64_t event) { return Raw(std::move(name), event); }

void Add(CounterPlan& plan, const std::string& group,
         std::initializer_list<std::pair<std::string_view, std::string>> formulas) {
  for (const auto& [tag, formula] : formulas)
    plan.formulas.push_back({std::string(tag), "1", formula, group});
}

// Adds instructions, cycles and branches, whose codes the Linux kernel knows on every processor.
void AddBase(CounterPlan& plan) {
  plan.groups.push_back({"base",
                         {Cycles(), Instructions(), CounterEvent{"branches", kHardware, 4, 0},
                          CounterEvent{"branch_misses", kHardware, 5, 0}}});
  Add(plan, "base",
      {{"instructions", "[instructions]"},
       {"cycles", "[cycles]"},
       {"ipc", "[instructions] / [cycles]"},
       {"branch_misses", "[branch_misses]"},
       {"mispredict_share", "[branches] > 0 ? [branch_misses] / [branches] : 0"}});
}

// Adds misses per thousand instructions, for groups whose events are the misses themselves.
void AddPerInstruction(CounterPlan& plan, const std::string& group) {
  Add(plan, group,
      {{"l1_mpki", "1000 * [l1_misses] / [instructions]"},
       {"l3_mpki", "1000 * [l3_misses] / [instructions]"}});
  if (plan.family != CounterFamily::kGeneric)
    Add(plan, group, {{"l2_mpki", "1000 * [l2_misses] / [instructions]"}});
}

void AddWidths(CounterPlan& plan) {
  const std::string sum = "([fp_scalar] + [fp_128] + [fp_256] + [fp_512])";
  const auto share = [&](const char* part) {
    return fmt::format("{0} > 0 ? [{1}] / {0} : 0", sum, part);
  };
  Add(plan, "widths",
      {{"fp_scalar_share", share("fp_scalar")},
       {"fp_128_share", share("fp_128")},
       {"fp_256_share", share("fp_256")},
       {"fp_512_share", share("fp_512")}});
}

void AddGeneric(CounterPlan& plan) {
  // The code is type, operation << 8, result << 16. These events are reads that miss.
  plan.groups.push_back(
      {"misses",
       {Instructions(), CounterEvent{"l1_misses", kCache, 0x10000, 0},
        CounterEvent{"l3_misses", kCache, 0x10002, 0}, CounterEvent{"dtlb", kCache, 0x10003, 0}}});
  Add(plan, "misses",
      {{"l1_misses", "[l1_misses]"}, {"l3_misses", "[l3_misses]"}, {"dtlb2_misses", "[dtlb]"}});
  AddPerInstruction(plan, "misses");
}

// Adds the events that all Intel servers share. `walk` is the event of page walks for loads.
void AddIntelMemory(CounterPlan& plan, std::uint64_t walk) {
  plan.groups.push_back(
      {"misses",
       {Instructions(), Intel("l1_misses", {0xd1, 0x08}), Intel("l2_misses", {0xd1, 0x10}),
        Intel("l3_misses", {0xd1, 0x20}), Intel("dtlb_walks", {walk, 0x0e})}});
  Add(plan, "misses",
      {{"l1_misses", "[l1_misses]"},
       {"l2_misses", "[l2_misses]"},
       {"l3_misses", "[l3_misses]"},
       {"dtlb2_misses", "[dtlb_walks]"}});
  AddPerInstruction(plan, "misses");
  plan.groups.push_back(
      {"splits", {Intel("split_loads", {0xd0, 0x41}), Intel("all_loads", {0xd0, 0x81})}});
  Add(plan, "splits", {{"split_loads", "[split_loads]"}});
  // Each event covers single and double precision together. An FMA counts twice.
  plan.groups.push_back({"widths",
                         {Intel("fp_scalar", {0xc7, 0x03}), Intel("fp_128", {0xc7, 0x0c}),
                          Intel("fp_256", {0xc7, 0x30}), Intel("fp_512", {0xc7, 0xc0})}});
  AddWidths(plan);
}

// Adds mispredicted branches and other machine clears, and divides bad speculation between them.
void AddIntelClears(CounterPlan& plan, const std::string& bad_speculation) {
  plan.groups.push_back({"clears",
                         {Cycles(), Intel("mispredicts", {0xc5, 0x00}),
                          Intel("machine_clears", {0xc3, 0x01, 1, true})}});
  const std::string share = "[mispredicts] / ([mispredicts] + [machine_clears])";
  Add(plan, "clears",
      {{"topdown_branch_mispredicts", fmt::format("({}) * ({})", share, bad_speculation)},
       {"topdown_machine_clears", fmt::format("(1 - {}) * ({})", share, bad_speculation)}});
}

// Adds the stalls by cause, in two groups. `stores` is the threshold of BOUND_ON_STORES.
void AddIntelStalls(CounterPlan& plan, std::uint64_t stores, const std::string& backend,
                    const std::string& retiring) {
  plan.groups.push_back({"stalls",
                         {Cycles(), Intel("stalls_mem", {0xa3, 0x14, 20}),
                          Intel("bound_on_stores", {0xa6, 0x40, stores}),
                          Intel("stalls_total", {0xa3, 0x04, 4}), Intel("ports_1", {0xa6, 0x02})}});
  plan.groups.push_back({"ports", {Cycles(), Intel("ports_2", {0xa6, 0x04})}});
  const std::string memory = fmt::format(
      "(([stalls_mem] + [bound_on_stores]) / ([stalls_total] + [ports_1] + ({}) * [ports_2] + "
      "[bound_on_stores]))",
      retiring);
  Add(plan, "stalls",
      {{"topdown_memory_bound", fmt::format("{} * ({})", memory, backend)},
       {"topdown_core_bound", fmt::format("(1 - {}) * ({})", memory, backend)}});
}

void AddSkylake(CounterPlan& plan) {
  plan.width = 4;
  plan.groups.push_back({"topdown",
                         {Cycles(), Intel("fe_slots", {0x9c, 0x01}), Intel("issued", {0x0e, 0x01}),
                          Intel("retired_slots", {0xc2, 0x02}), Intel("recovery", {0x0d, 0x01})}});
  const std::string frontend = "[fe_slots] / (4 * [cycles])";
  const std::string retiring = "[retired_slots] / (4 * [cycles])";
  const std::string bad = "([issued] - [retired_slots] + 4 * [recovery]) / (4 * [cycles])";
  const std::string backend = "1 - ([fe_slots] + [issued] + 4 * [recovery]) / (4 * [cycles])";
  Add(plan, "topdown",
      {{"topdown_frontend_bound", frontend},
       {"topdown_bad_speculation", bad},
       {"topdown_backend_bound", backend},
       {"topdown_retiring", retiring}});
  AddIntelStalls(plan, 0, backend, retiring);
  AddIntelClears(plan, bad);
  plan.groups.push_back({"fetch",
                         {Cycles(), Instructions(), Intel("fe_slots", {0x9c, 0x01}),
                          Intel("fe_empty", {0x9c, 0x01, 4}), Intel("retired_slots", {0xc2, 0x02}),
                          Intel("fused", {0xc2, 0x04})}});
  Add(plan, "fetch",
      {{"topdown_fetch_latency", "[fe_empty] / [cycles]"},
       {"topdown_fetch_bandwidth", "([fe_slots] - 4 * [fe_empty]) / (4 * [cycles])"},
       {"topdown_heavy_operations",
        "([retired_slots] + [fused] - [instructions]) / (4 * [cycles])"},
       {"topdown_light_operations", "([instructions] - [fused]) / (4 * [cycles])"}});
  AddIntelMemory(plan, 0x08);
}

// The sum of the registers that hold the shares, which is all slots up to rounding.
constexpr std::string_view kAll = "([td_fe] + [td_bad] + [td_ret] + [td_be])";

// Adds a top-down analysis for virtual machines that have general counters but not those registers.
void AddGeneralTopdown(CounterPlan& plan) {
  plan.groups.push_back({"topdown_general",
                         {Intel("slots_p", {0xa4, 0x01}), Intel("be_slots", {0xa4, 0x02}),
                          Intel("fe_slots", {0x9c, 0x01}), Intel("retired_slots", {0xc2, 0x02})}});
  Add(plan, "topdown_general",
      {{"topdown_frontend_bound", "[fe_slots] / [slots_p]"},
       {"topdown_bad_speculation", "1 - ([fe_slots] + [be_slots] + [retired_slots]) / [slots_p]"},
       {"topdown_backend_bound", "[be_slots] / [slots_p]"},
       {"topdown_retiring", "[retired_slots] / [slots_p]"}});
}

void AddIceLake(CounterPlan& plan) {
  plan.width = 5;
  plan.groups.push_back(
      {"topdown",
       {Raw("slots", 0x0400), Raw("td_ret", 0x8000), Raw("td_bad", 0x8100), Raw("td_fe", 0x8200),
        Raw("td_be", 0x8300), Intel("dropped", {0x0d, 0x10}),
        Intel("clears", {0x0d, 0x01, 1, true}), Intel("fe_empty", {0x9c, 0x01, 5})}});
  const std::string frontend = fmt::format("[td_fe] / {} - [dropped] / [slots]", kAll);
  const std::string backend = fmt::format("[td_be] / {} + 5 * [clears] / [slots]", kAll);
  const std::string retiring = fmt::format("[td_ret] / {}", kAll);
  const std::string bad = fmt::format("max(0, 1 - ({} + {} + {}))", frontend, backend, retiring);
  const std::string latency = "(5 * [fe_empty] - [dropped]) / [slots]";
  Add(plan, "topdown",
      {{"topdown_frontend_bound", frontend},
       {"topdown_bad_speculation", bad},
       {"topdown_backend_bound", backend},
       {"topdown_retiring", retiring},
       {"topdown_fetch_latency", latency},
       {"topdown_fetch_bandwidth", fmt::format("max(0, {} - {})", frontend, latency)}});
  AddGeneralTopdown(plan);
  AddIntelStalls(plan, 2, backend, retiring);
  AddIntelClears(plan, bad);
  AddIntelMemory(plan, 0x08);
}

void AddSapphireRapids(CounterPlan& plan) {
  plan.width = 6;
  plan.groups.push_back(
      {"topdown",
       {Raw("slots", 0x0400), Raw("td_ret", 0x8000), Raw("td_bad", 0x8100), Raw("td_fe", 0x8200),
        Raw("td_be", 0x8300), Raw("td_heavy", 0x8400), Raw("td_mispredict", 0x8500),
        Raw("td_latency", 0x8600), Raw("td_memory", 0x8700), Intel("dropped", {0xad, 0x10})}});
  const auto share = [](const char* part) { return fmt::format("[{}] / {}", part, kAll); };
  const std::string dropped = "[dropped] / [slots]";
  const std::string bad = fmt::format("max(0, 1 - ({} - {} + {} + {}))", share("td_fe"), dropped,
                                      share("td_be"), share("td_ret"));
  Add(plan, "topdown",
      {{"topdown_frontend_bound", share("td_fe") + " - " + dropped},
       {"topdown_bad_speculation", bad},
       {"topdown_backend_bound", share("td_be")},
       {"topdown_retiring", share("td_ret")},
       {"topdown_memory_bound", share("td_memory")},
       {"topdown_core_bound", fmt::format("max(0, ([td_be] - [td_memory]) / {})", kAll)},
       {"topdown_fetch_latency", share("td_latency") + " - " + dropped},
       {"topdown_fetch_bandwidth", fmt::format("max(0, ([td_fe] - [td_latency]) / {})", kAll)},
       {"topdown_branch_mispredicts", share("td_mispredict")},
       {"topdown_machine_clears", fmt::format("max(0, {} - {})", bad, share("td_mispredict"))},
       {"topdown_heavy_operations", share("td_heavy")},
       {"topdown_light_operations", fmt::format("max(0, ([td_ret] - [td_heavy]) / {})", kAll)}});
  AddGeneralTopdown(plan);
  AddIntelMemory(plan, 0x12);
}

// `resync` counts pipeline restarts that were not caused by a branch.
void AddZenTopdown(CounterPlan& plan, const CounterEvent& resync) {
  plan.groups.push_back({"topdown",
                         {Cycles(), Amd("fe_slots", {0x1a0, 0x01}), Amd("be_slots", {0x1a0, 0x1e}),
                          Amd("dispatched", {0xaa, 0x07}), Amd("retired_ops", {0xc1, 0x00})}});
  const std::string slots = fmt::format("({} * [cycles])", plan.width);
  const std::string backend = "[be_slots] / " + slots;
  const std::string bad = "([dispatched] - [retired_ops]) / " + slots;
  Add(plan, "topdown",
      {{"topdown_frontend_bound", "[fe_slots] / " + slots},
       {"topdown_bad_speculation", bad},
       {"topdown_backend_bound", backend},
       {"topdown_retiring", "[retired_ops] / " + slots}});
  const auto width = static_cast<std::uint64_t>(plan.width);
  plan.groups.push_back({"topdown2",
                         {Cycles(), Amd("smt_slots", {0x1a0, 0x60}), Amd("fe_slots", {0x1a0, 0x01}),
                          Amd("fe_empty", {0x1a0, 0x01, width}), Amd("wait_load", {0xd6, 0xa2})}});
  plan.groups.push_back({"topdown3",
                         {Cycles(), Amd("wait_any", {0xd6, 0x02}), Amd("mispredicts", {0xc3, 0x00}),
                          resync, Amd("microcoded", {0x1c2, 0x00})}});
  const std::string memory = "([wait_any] > 0 ? min(1, [wait_load] / [wait_any]) : 0)";
  const std::string branch = "([mispredicts] / ([mispredicts] + [resyncs]))";
  Add(plan, "topdown2",
      {{"topdown_smt_contention", "[smt_slots] / " + slots},
       {"topdown_fetch_latency", "[fe_empty] / [cycles]"},
       {"topdown_fetch_bandwidth",
        fmt::format("([fe_slots] - {} * [fe_empty]) / {}", plan.width, slots)}});
  // The events of other groups are counts per call, like these.
  Add(plan, "topdown3",
      {{"topdown_memory_bound", memory + " * " + backend},
       {"topdown_core_bound", "(1 - " + memory + ") * " + backend},
       {"topdown_branch_mispredicts", branch + " * " + bad},
       {"topdown_machine_clears", "(1 - " + branch + ") * " + bad},
       {"topdown_heavy_operations", "[microcoded] / " + slots},
       {"topdown_light_operations", "([retired_ops] - [microcoded]) / " + slots}});
}

void AddZen(CounterPlan& plan, int width, const CounterEvent& resync) {
  plan.width = width;
  AddZenTopdown(plan, resync);
  // Cache lines that loads and stores brought in, by where they came from. Prefetches are excluded.
  plan.groups.push_back({"misses",
                         {Instructions(), Amd("fills", {0x43, 0xff}), Amd("fills_l2", {0x43, 0x01}),
                          Amd("fills_l3", {0x43, 0x02}), Amd("dtlb_walks", {0x45, 0xf0})}});
  const std::string beyond_l2 = "[fills] - [fills_l2]";
  const std::string beyond_l3 = "[fills] - [fills_l2] - [fills_l3]";
  Add(plan, "misses",
      {{"l1_misses", "[fills]"},
       {"l2_misses", beyond_l2},
       {"l3_misses", beyond_l3},
       {"dtlb2_misses", "[dtlb_walks]"},
       {"l1_mpki", "1000 * [fills] / [instructions]"},
       {"l2_mpki", "1000 * (" + beyond_l2 + ") / [instructions]"},
       {"l3_mpki", "1000 * (" + beyond_l3 + ") / [instructions]"}});
  plan.groups.push_back(
      {"widths",
       {Amd("fp_scalar", {0x08, 0x04}), Amd("fp_128", {0x08, 0x08}), Amd("fp_256", {0x08, 0x10}),
        Amd("fp_512", {0x08, 0x20}), Amd("split_loads", {0x47, 0x01})}});
  AddWidths(plan);
  Add(plan, "widths", {{"split_loads", "[split_loads]"}});
}

// On a processor with five slots, the stalled slots are counted one too high per cycle (the metrics
// file shows this by its "#slots - 5").
void AddNeoverse(CounterPlan& plan, int slots) {
  plan.width = slots;
  plan.groups.push_back(
      {"topdown",
       {Cycles(), Arm("fe_slots", 0x3e), Arm("be_slots", 0x3d), Arm("stalled_slots", 0x3f),
        Arm("ops_spec", 0x3b), Arm("ops_retired", 0x3a)}});
  const std::string less = slots == 5 ? " - [cycles]" : "";
  const std::string all = fmt::format("({} * [cycles])", slots);
  const std::string used = fmt::format("(1 - ([stalled_slots]{}) / {})", less, all);
  const std::string backend = "[be_slots] / " + all;
  Add(plan, "topdown",
      {{"topdown_frontend_bound", fmt::format("([fe_slots]{}) / {}", less, all)},
       {"topdown_bad_speculation", "(1 - [ops_retired] / [ops_spec]) * " + used},
       {"topdown_backend_bound", backend},
       {"topdown_retiring", "[ops_retired] / [ops_spec] * " + used}});
  // Cycles stalled while a miss of the last private cache is outstanding. The cost of the first two
  // levels stays with the core. Arm does not publish a second level of the analysis for these, so
  // this division is our own.
  plan.groups.push_back({"stalls", {Cycles(), Arm("stall_be", 0x24), Arm("stall_memory", 0x4005)}});
  const std::string memory = "([stall_be] > 0 ? min(1, [stall_memory] / [stall_be]) : 0)";
  Add(plan, "stalls",
      {{"topdown_memory_bound", memory + " * " + backend},
       {"topdown_core_bound", "(1 - " + memory + ") * " + backend}});
  plan.groups.push_back({"misses",
                         {Instructions(), Arm("l1_misses", 0x03), Arm("l2_misses", 0x17),
                          Arm("l3_misses", 0x37), Arm("dtlb_walks", 0x34)}});
  Add(plan, "misses",
      {{"l1_misses", "[l1_misses]"},
       {"l2_misses", "[l2_misses]"},
       {"l3_misses", "[l3_misses]"},
       {"dtlb2_misses", "[dtlb_walks]"}});
  AddPerInstruction(plan, "misses");
  // Scalar operations compared with those of Advanced SIMD (including integer ones) and SVE.
  plan.groups.push_back({"widths", {Arm("vfp", 0x75), Arm("simd", 0x74), Arm("sve", 0x8006)}});
  Add(plan, "widths",
      {{"fp_scalar_share", "[vfp] + [simd] + [sve] > 0 ? [vfp] / ([vfp] + [simd] + [sve]) : 0"}});
}

}  // namespace

CounterPlan PlanCounters(const CpuIdentity& cpu) {
  CounterPlan plan;
  plan.family = FamilyOf(cpu);
  AddBase(plan);
  switch (plan.family) {
    case CounterFamily::kSkylakeServer: AddSkylake(plan); break;
    case CounterFamily::kIceLakeServer: AddIceLake(plan); break;
    case CounterFamily::kSapphireRapids: AddSapphireRapids(plan); break;
    case CounterFamily::kZen4: AddZen(plan, 6, Amd("resyncs", {0x96, 0x00})); break;
    case CounterFamily::kZen5: AddZen(plan, 8, Amd("resyncs", {0x9f, 0x01})); break;
    case CounterFamily::kNeoverse:
      AddNeoverse(plan, cpu.slots > 0 ? cpu.slots : cpu.model == 0xd4f ? 8 : 5);
      break;
    case CounterFamily::kGeneric: AddGeneric(plan); break;
  }
  return plan;
}

std::string EventList(const CounterGroup& group) {
  std::string list;
  for (const CounterEvent& event : group.events) {
    if (!list.empty()) list += ' ';
    list += fmt::format("{}:{:#x}", event.type, event.config);
    if (event.config1 != 0) list += fmt::format(":{:#x}", event.config1);
  }
  return list;
}

}  // namespace pragma
