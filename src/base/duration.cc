#include "base/duration.h"

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>

#include "base/result.h"
#include "base/text.h"

namespace pragma {

Result<double> ParseDuration(std::string_view text) {
  const std::string_view trimmed = Trim(text);
  double number = 0;
  const auto [end, error] =
      std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  const std::string_view unit = trimmed.substr(static_cast<std::size_t>(end - trimmed.data()));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc() || scale == 0 || !(number >= 0)) {
    return Fail(ErrorKind::kUsage,
                "invalid duration '" + std::string(text) + "': use 90s, 15m or 2h");
  }
  return number * scale;
}

}  // namespace pragma
