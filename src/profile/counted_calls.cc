// Provider "counters": counts hardware events during warm calls on one thread, one group of events
// at a time.
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/profile.h"
#include "machine/machine.h"
#include "profile/builds.h"
#include "profile/counters.h"
#include "profile/providers.h"
#include "profile/workpiece.h"

namespace pragma {
namespace {

CounterReading ReadingOf(const HostReport& report, const std::string& group) {
  CounterReading reading{.group = group,
                         .values = {},
                         .calls = report.Number("calls").value_or(1),
                         .wall_seconds = report.Number("wall_seconds").value_or(0)};
  for (const std::vector<std::string>& line : report.lines) {
    if (line.size() < 5 || line[0] != "event") continue;
    reading.values.push_back({.value = std::strtod(line[1].c_str(), nullptr),
                              .enabled_ns = std::strtod(line[2].c_str(), nullptr),
                              .running_ns = std::strtod(line[3].c_str(), nullptr),
                              .error = std::atoi(line[4].c_str())});
  }
  return reading;
}

}  // namespace

Result<ProviderNote> AddCounters(Workpiece& piece) {
  const CounterPlan plan = PlanCounters(ThisCpu());
  ProviderNote probed = ProbeCounters(plan);
  probed.name = "counters";
  if (probed.verdict != "ran") return probed;
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
  std::vector<CounterReading> readings;
  for (const CounterGroup& group : plan.groups) {
    const HostReport report = TRY(RunHost(
        piece,
        {.mode = "counters", .object = kPlainObject, .options = {"events=" + EventList(group)}}));
    if (report.failure.empty()) readings.push_back(ReadingOf(report, group.name));
  }
  CounterOutcome outcome =
      CounterMetrics(plan, readings, piece.metrics.Get("core_clock").value_or(0));
  for (Metric& metric : outcome.metrics) piece.metrics.Add(std::move(metric));
  outcome.note.name = "counters";
  return std::move(outcome.note);
}

}  // namespace pragma
