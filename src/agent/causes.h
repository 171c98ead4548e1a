// Cause: what a performance engineer would look at first after a failure. Private to agent/.
#pragma once

#include <span>
#include <string_view>

#include "core/evaluation.h"

namespace pragma {

// The needle is matched against reason, failed checks, diagnostics and log, in lower case; a cause
// without one speaks for its status.
struct Cause {
  Status status;
  std::string_view needle;
  std::string_view text;
};

// Of what holds in every language that runs on a GPU, and of one language alone.
[[nodiscard]] std::span<const Cause> GpuCauses();
[[nodiscard]] std::span<const Cause> CudaCauses();
[[nodiscard]] std::span<const Cause> TritonCauses();

}  // namespace pragma
