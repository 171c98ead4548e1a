// Gzip: compresses text for a browser's DecompressionStream.
#pragma once

#include <string>
#include <string_view>

namespace pragma {

// Compresses to RFC 1952 at the highest level. The same text always gives the same bytes.
[[nodiscard]] std::string Gzip(std::string_view text);

}  // namespace pragma
