// SHA-256, the only hash used for content ids.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pragma {

inline constexpr std::size_t kSha256Digits = 64;

// Returns kSha256Digits lower-case hex digits.
[[nodiscard]] std::string Sha256Hex(std::string_view bytes);
// Returns the 32 bytes of the digest as base64, the form in which a browser's content security
// policy names a script.
[[nodiscard]] std::string Sha256Base64(std::string_view bytes);

}  // namespace pragma
