// layers: profile
// A profiler's output is untrusted text, and so is an adapter's file. The first letter selects the
// shipped adapter that reads the rest. If it selects none, the rest is an adapter's file.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "profile/adapter.h"

namespace {

const std::vector<pragma::Adapter>& Shipped() {
  static const std::vector<pragma::Adapter> kAdapters = [] {
    for (const char* folder :
         {"knowledge/adapters", "../knowledge/adapters", "../../knowledge/adapters"}) {
      if (auto found = pragma::LoadAdapters(folder); found && !found->empty()) return *found;
    }
    std::abort();  // must be started in the source folder
  }();
  return kAdapters;
}

void CheckFile(std::string_view text) {
  const auto adapter = pragma::ParseAdapter(text, "fuzz");
  if (!adapter && adapter.error().message.empty()) std::abort();
  if (adapter && (adapter->metrics.empty() || adapter->command.empty())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t which = data[0] - std::size_t{'0'};
  if (which >= Shipped().size()) {
    CheckFile(text);
    return 0;
  }
  const pragma::Adapter& adapter = Shipped()[which];
  const pragma::AdapterMetrics parsed = pragma::ParseOutput(adapter, text);
  for (const pragma::Metric& metric : parsed.metrics) {
    if (!std::isfinite(metric.value) || metric.tag.empty()) std::abort();
  }
  if (parsed.metrics.size() < adapter.metrics.size() && parsed.problems.empty()) std::abort();
  return 0;
}
