// The mode that reads hardware counters during calls, one group of events per run. EVENTS has the
// format of worker/profiler/perf_events.h.
#include <array>

#include "worker/profiler/host.h"
#include "worker/profiler/perf_events.h"

namespace profiler {

// Counts the events. Host opens them before the kernel is loaded, so that its threads are counted
// too.
void Counters(Host& host) {
  const pe_set& events = host.events();
  CallFor(host, 0.02, host.memory().control->set_count);
  pe_start(&events);
  const double start = Now();
  const std::uint64_t calls = CallFor(host, host.Option("seconds", 0.05), 3);
  const double wall = Now() - start;
  pe_stop(&events);
  std::array<pe_value, PE_MAX_EVENTS> values{};
  pe_read(&events, values.data());
  std::fprintf(host.result(), "calls %llu\nwall_seconds %.9g\n",
               static_cast<unsigned long long>(calls), wall);
  for (int i = 0; i < events.count; ++i) {
    const pe_value& value = values[static_cast<std::size_t>(i)];
    std::fprintf(host.result(), "event %llu %llu %llu %d\n",
                 static_cast<unsigned long long>(value.value),
                 static_cast<unsigned long long>(value.enabled),
                 static_cast<unsigned long long>(value.running), value.error);
  }
  host.Finish();
}

}  // namespace profiler
