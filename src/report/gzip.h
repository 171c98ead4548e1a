// Gzip: text made small for a browser's DecompressionStream.
#pragma once

#include <string>
#include <string_view>

namespace pragma {

// RFC 1952, at the strongest level; the same text always gives the same bytes.
[[nodiscard]] std::string Gzip(std::string_view text);

}  // namespace pragma
