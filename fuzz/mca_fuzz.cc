// layers: profile
// llvm-mca's report and a loop's assembly are untrusted text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "profile/mca.h"

namespace {

bool IsShare(double value) { return value >= 0 && value <= 1; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto report = pragma::ReadMca(text)) {
    if (report->iterations <= 0 || report->cycles <= 0) std::abort();
    if (!IsShare(report->register_share) || !IsShare(report->resource_share)) std::abort();
    for (const auto& step : report->chain) {
      if (step.cause.empty() || step.index < 0) std::abort();
    }
  }
  const auto source = pragma::PrepareLoop({.instructions = {text}});
  if (source.text.empty() == source.refusal.empty()) std::abort();
  if (source.text.find("\n.") != std::string::npos) std::abort();  // no directive may pass
  return 0;
}
