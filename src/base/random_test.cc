#include "base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"

namespace pragma {
namespace {

TEST(SeedTest, HexGoesBothWays) {
  const Seed seed{0x0123456789abcdefU, 0xfedcba9876543210U};
  EXPECT_EQ(SeedToHex(seed), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(SeedFromHex(SeedToHex(seed)).value(), seed);
}

TEST(SeedTest, WrongHexIsRefused) {
  EXPECT_FALSE(SeedFromHex(""));
  EXPECT_FALSE(SeedFromHex("0123"));
  EXPECT_FALSE(SeedFromHex("0123456789abcdeffedcba987654321g"));
  EXPECT_FALSE(SeedFromHex("0123456789ABCDEFFEDCBA9876543210"));
}

TEST(SeedTest, SystemSeedsDiffer) { EXPECT_NE(SystemSeed(), SystemSeed()); }

TEST(SeedTest, DerivedSeedsAreFixedByPurpose) {
  const Seed seed{1, 2};
  EXPECT_EQ(DeriveSeed(seed, "inputs"), DeriveSeed(seed, "inputs"));
  EXPECT_NE(DeriveSeed(seed, "inputs"), DeriveSeed(seed, "poison"));
  EXPECT_NE(DeriveSeed(seed, "inputs"), DeriveSeed({1, 3}, "inputs"));
}

TEST(RngTest, SameSeedSameStream) {
  Rng a({1, 2});
  Rng b({1, 2});
  Rng c({2, 1});
  std::vector<std::uint64_t> other;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t value = a();
    EXPECT_EQ(value, b());
    other.push_back(c());
    EXPECT_NE(value, other.back());
  }
}

TEST(RngTest, BelowReachesEveryValueAndNoOther) {
  Rng rng({3, 4});
  std::array<int, 7> counts{};
  for (int i = 0; i < 7000; ++i) ++counts.at(rng.Below(7));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 200);
  EXPECT_EQ(rng.Below(1), 0U);
}

TEST(RngTest, BelowIsUnbiasedForBoundsNearTheWholeRange) {
  Rng rng({7, 8});
  constexpr std::uint64_t kQuarter = std::uint64_t{1} << 62U;
  std::array<int, 3> counts{};  // a plain remainder would give the first third half of the draws
  for (int i = 0; i < 3000; ++i) ++counts.at(rng.Below(3 * kQuarter) / kQuarter);
  for (const int count : counts) EXPECT_NEAR(count, 1000, 200);
}

TEST(RngTest, UniformStaysInTheHalfOpenInterval) {
  Rng rng({5, 6});
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double value = rng.Uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(RngTest, FillBytesFillsOddLengthsToTheEnd) {
  for (std::size_t size = 0; size < 20; ++size) {
    std::set<std::byte> last;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      std::vector<std::byte> bytes(size + 1, std::byte{0});
      Rng({seed, 1}).FillBytes(std::span(bytes).first(size));
      if (size > 0) last.insert(bytes[size - 1]);
      EXPECT_EQ(bytes[size], std::byte{0});
    }
    EXPECT_GE(last.size(), size > 0 ? 10U : 0U);
  }
}

TEST(HashTest, KnownDigests) {  // FIPS 180-2, appendix B
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace pragma
