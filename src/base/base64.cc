#include "base/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace pragma {

std::string Base64(std::string_view bytes) {
  constexpr std::size_t kPiece = std::size_t{3} << 20U;  // EVP_EncodeBlock takes its length as an
                                                         // int
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, std::min(bytes.size(), kPiece));
    std::string coded((piece.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock appends a zero byte
    ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(coded.data()),
                      reinterpret_cast<const unsigned char*>(piece.data()),
                      static_cast<int>(piece.size()));
    coded.pop_back();
    text += coded;
    bytes.remove_prefix(piece.size());
  }
  return text;
}

}  // namespace pragma
