// Parses durations as people write them.
#pragma once

#include <string_view>

#include "base/result.h"

namespace pragma {

// Parses "90", "90s", "15m" or "2h" into seconds. Fails with kUsage for anything else.
[[nodiscard]] Result<double> ParseDuration(std::string_view text);

}  // namespace pragma
