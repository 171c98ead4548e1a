// Base64 encoding (RFC 4648, with padding), for bytes inside text formats.
#pragma once

#include <string>
#include <string_view>

namespace pragma {

[[nodiscard]] std::string Base64(std::string_view bytes);

}  // namespace pragma
