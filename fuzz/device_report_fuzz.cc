// layers: profile
// A GPU's profile is read from untrusted text: the list of launches that the candidate's own
// process wrote, cuobjdump's listing, and ncu's page of details. The first letter selects one of
// them.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/profile.h"
#include "profile/launches.h"
#include "profile/metrics.h"
#include "profile/ncu_advice.h"
#include "profile/sass.h"

namespace {

void CheckFinite(pragma::MetricSet metrics) {
  for (const pragma::Metric& metric : std::move(metrics).Take()) {
    if (!std::isfinite(metric.value) || metric.tag.empty()) std::abort();
  }
}

void CheckLaunches(std::string_view text) {
  const auto call = pragma::ParseLaunches(text);
  if (!call) {
    if (call.error().message.empty()) std::abort();
    return;
  }
  pragma::MetricSet metrics;
  pragma::AddLaunchMetrics(*call, metrics);
  CheckFinite(metrics);
  for (const pragma::HotSpot& spot : pragma::HotKernels(*call, "kernel.cu")) {
    if (!std::isfinite(spot.percent)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'l') {
    CheckLaunches(text);
  } else if (data[0] == 's') {
    for (const pragma::SassMix& mix : pragma::ParseSass(text)) {
      pragma::MetricSet metrics;
      pragma::AddSassMetrics(mix, metrics);
      CheckFinite(metrics);
    }
  } else if (pragma::ParseNcuAdvice(text, 3).size() > 3) {
    std::abort();
  }
  return 0;
}
