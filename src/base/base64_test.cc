#include "base/base64.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "base/hash.h"

namespace pragma {
namespace {

TEST(Base64, PadsAsTheRfcSays) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64(std::string("\0\xff", 2)), "AP8=");
}

TEST(Base64, LongTextsAreCodedInPiecesThatFitTogether) {
  const std::size_t bytes = (std::size_t{3} << 20U) + 2;
  const std::string coded = Base64(std::string(bytes, 'a'));
  EXPECT_EQ(coded.size(), (bytes + 2) / 3 * 4);
  EXPECT_EQ(coded.find('='), coded.size() - 1);
}

TEST(Hash, Base64OfTheDigestOfNothing) {
  EXPECT_EQ(Sha256Base64(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

}  // namespace
}  // namespace pragma
