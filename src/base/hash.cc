#include "base/hash.h"

#include <openssl/sha.h>

#include <array>
#include <string>
#include <string_view>

#include "base/base64.h"

namespace pragma {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest Sha256(std::string_view bytes) {
  Digest digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return digest;
}

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  const Digest digest = Sha256(bytes);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 15U];
  }
  return hex;
}

std::string Sha256Base64(std::string_view bytes) {
  const Digest digest = Sha256(bytes);
  return Base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace pragma
