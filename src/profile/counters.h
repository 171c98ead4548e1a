// Hardware counters: which raw events each processor has for what we want to know, and how their
// values become metrics. Pure; the counting is done by worker/profiler/perf_events.h in the process that
// runs the kernel, on one thread, one group at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/profile.h"

namespace pragma {

enum class CounterFamily : std::uint8_t {
  kGeneric,        // the kernel's own event names only
  kSkylakeServer,  // and Cascade Lake
  kIceLakeServer,
  kSapphireRapids,  // and Emerald Rapids
  kZen4,
  kZen5,
  kNeoverse,  // N2, V2
};
[[nodiscard]] std::string_view CounterFamilyName(CounterFamily family);

// Who made the processor, and which it is.
struct CpuIdentity {
  std::string vendor;  // "GenuineIntel", "AuthenticAMD", "ARM", or what /proc/cpuinfo says
  int family = 0;      // x86
  int model = 0;       // x86; Arm: the part number of MIDR
  int stepping = 0;    // x86
  int slots = 0;       // Arm: operations a cycle, from sysfs; 0: not known
};
// From the text of /proc/cpuinfo; `slots_text`: of the PMU's caps/slots, may be empty.
[[nodiscard]] CpuIdentity IdentifyCpu(std::string_view cpuinfo, std::string_view slots_text = {});
// Of this machine.
[[nodiscard]] CpuIdentity ThisCpu();
[[nodiscard]] CounterFamily FamilyOf(const CpuIdentity& cpu);

// As perf_event_open wants it.
struct CounterEvent {
  std::string name;  // in the formulas
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
};
// Events counted at the same time, few enough for the processor to hold them all.
struct CounterGroup {
  std::string name;
  std::vector<CounterEvent> events;
};
// A metric from the events of a group; names that the group lacks are taken from the others, as
// counts of one call.
struct CounterFormula {
  std::string tag;
  std::string unit;
  std::string formula;  // profile/formula.h
  std::string group;
};
struct CounterPlan {
  CounterFamily family = CounterFamily::kGeneric;
  int width = 0;  // slots a cycle; 0: no top-down analysis
  std::vector<CounterGroup> groups;
  std::vector<CounterFormula> formulas;  // the first that has a value gives the tag
};
[[nodiscard]] CounterPlan PlanCounters(const CpuIdentity& cpu);
// The group as pe_open takes it: "4:0x1a0 0:1".
[[nodiscard]] std::string EventList(const CounterGroup& group);

// What was read of one event.
struct CounterValue {
  double value = 0;
  double enabled_ns = 0;
  double running_ns = 0;
  int error = 0;  // errno
};
// One group, counted over `calls` calls of the kernel that took `wall_seconds` together.
struct CounterReading {
  std::string group;
  std::vector<CounterValue> values;  // in the group's order
  double calls = 1;
  double wall_seconds = 0;  // 0: not known
};
// The lines of pe_format; an error names the line. Foreign text.
[[nodiscard]] Result<std::vector<CounterValue>> ParseCounterValues(std::string_view text);

struct CounterOutcome {
  std::vector<Metric> metrics;
  ProviderNote note;
};
// `core_ghz`: the probed clock, against which cycles are held; 0: not known.
[[nodiscard]] CounterOutcome CounterMetrics(const CounterPlan& plan,
                                            const std::vector<CounterReading>& readings,
                                            double core_ghz = 0);

// Why perf_event_open failed, and what to do: absent or refused. `paranoid`: the value of
// kernel.perf_event_paranoid.
[[nodiscard]] ProviderNote CounterRefusal(int error, int paranoid);
// The value here; 2 when it cannot be read.
[[nodiscard]] int PerfEventParanoid();

// Opens each group of the plan in this process for a moment: "ran" when any event works, with what
// does not; else why not.
[[nodiscard]] ProviderNote ProbeCounters(const CounterPlan& plan);

}  // namespace pragma
