// Hardware counters: the raw events that each processor provides for our metrics, and how their
// values become metrics. These functions are pure. The counting itself is done by
// worker/profiler/perf_events.h in the process that runs the kernel, on one thread, one group at a
// time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/profile.h"

namespace pragma {

enum class CounterFamily : std::uint8_t {
  kGeneric,        // only the generic event names of the Linux kernel
  kSkylakeServer,  // and Cascade Lake
  kIceLakeServer,
  kSapphireRapids,  // and Emerald Rapids
  kZen4,
  kZen5,
  kNeoverse,  // N2, V2
};
[[nodiscard]] std::string_view CounterFamilyName(CounterFamily family);

// The vendor and the model of a processor.
struct CpuIdentity {
  std::string vendor;  // "GenuineIntel", "AuthenticAMD", "ARM", or what /proc/cpuinfo says
  int family = 0;      // x86
  int model = 0;       // x86: model; Arm: the part number in MIDR
  int stepping = 0;    // x86
  int slots = 0;       // Arm: operations per cycle, from sysfs; 0: not known
};
// Identifies the processor from the text of /proc/cpuinfo. `slots_text` is the content of the PMU's
// caps/slots and may be empty.
[[nodiscard]] CpuIdentity IdentifyCpu(std::string_view cpuinfo, std::string_view slots_text = {});
// Identifies this machine's processor.
[[nodiscard]] CpuIdentity ThisCpu();
[[nodiscard]] CounterFamily FamilyOf(const CpuIdentity& cpu);

// An event in the form that perf_event_open takes.
struct CounterEvent {
  std::string name;  // as used in the formulas
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;
};
// Events that are counted at the same time, few enough for the processor to count them all at once.
struct CounterGroup {
  std::string name;
  std::vector<CounterEvent> events;
};
// A metric computed from the events of a group. Names that are not in the group are taken from
// other groups, as counts per call.
struct CounterFormula {
  std::string tag;
  std::string unit;
  std::string formula;  // see profile/formula.h
  std::string group;
};
struct CounterPlan {
  CounterFamily family = CounterFamily::kGeneric;
  int width = 0;  // slots per cycle; 0: no top-down analysis
  std::vector<CounterGroup> groups;
  std::vector<CounterFormula> formulas;  // the first one that has a value provides the tag
};
[[nodiscard]] CounterPlan PlanCounters(const CpuIdentity& cpu);
// Returns the group in the form that pe_open takes: "4:0x1a0 0:1".
[[nodiscard]] std::string EventList(const CounterGroup& group);

// The reading of one event.
struct CounterValue {
  double value = 0;
  double enabled_ns = 0;
  double running_ns = 0;
  int error = 0;  // errno of the event
};
// The readings of one group, counted over `calls` calls of the kernel, which took `wall_seconds` in
// total.
struct CounterReading {
  std::string group;
  std::vector<CounterValue> values;  // in the order of the group's events
  double calls = 1;
  double wall_seconds = 0;  // 0: not known
};
// Parses the lines of pe_format, which are untrusted text. An error names the line.
[[nodiscard]] Result<std::vector<CounterValue>> ParseCounterValues(std::string_view text);

struct CounterOutcome {
  std::vector<Metric> metrics;
  ProviderNote note;
};
// `core_ghz` is the probed clock frequency, which serves to check the cycles. 0: not known.
[[nodiscard]] CounterOutcome CounterMetrics(const CounterPlan& plan,
                                            const std::vector<CounterReading>& readings,
                                            double core_ghz = 0);

// Explains why perf_event_open failed (absent or refused) and what to do. `paranoid` is the value
// of kernel.perf_event_paranoid.
[[nodiscard]] ProviderNote CounterRefusal(int error, int paranoid);
// Returns kernel.perf_event_paranoid of this machine, or 2 when it cannot be read.
[[nodiscard]] int PerfEventParanoid();

// Opens each group of the plan in this process briefly. The note is "ran" when any event works, and
// lists those that do not. Otherwise it says why none works.
[[nodiscard]] ProviderNote ProbeCounters(const CounterPlan& plan);

}  // namespace pragma
