// layers: profile
// The counts that the jailed program reports, and what a kernel reports about its processor, are
// untrusted text.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "profile/counters.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const pragma::CounterPlan plan = pragma::PlanCounters(pragma::IdentifyCpu(text, text));
  auto values = pragma::ParseCounterValues(text);
  if (!values) return 0;
  for (const pragma::CounterGroup& group : plan.groups) {
    const auto outcome =
        pragma::CounterMetrics(plan, {{.group = group.name, .values = *values}}, 1);
    for (const pragma::Metric& metric : outcome.metrics) {
      if (!std::isfinite(metric.value)) std::abort();
    }
    if (outcome.note.verdict.empty()) std::abort();
  }
  return 0;
}
