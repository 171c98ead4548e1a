// layers: profile
// callgrind writes its output in the candidate's jail, so the candidate could have written it.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "profile/callgrind.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto report =
      pragma::ReadCallgrind(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!report) return 0;
  if (!std::isfinite(report->total.instructions)) std::abort();
  for (const auto& line : report->lines) {
    if (line.line <= 0 || line.self.instructions < 0) std::abort();
  }
  return 0;
}
