// Randomness: secrets from the operating system, streams from a recorded seed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace pragma {

// 128 bits; printed as 32 hex digits in records.
using Seed = std::array<std::uint64_t, 2>;

// From getrandom(2).
[[nodiscard]] Seed SystemSeed();
[[nodiscard]] std::string SeedToHex(const Seed& seed);
[[nodiscard]] Result<Seed> SeedFromHex(std::string_view hex);
// A seed for one purpose, derived so that knowing one tells nothing of another (SHA-256).
[[nodiscard]] Seed DeriveSeed(const Seed& seed, std::string_view purpose);

// xoshiro256** (Blackman, Vigna 2018). Not for secrets by itself: seed it from SystemSeed().
class Rng final {
 public:
  using result_type = std::uint64_t;
  explicit Rng(const Seed& seed);
  std::uint64_t operator()();
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }
  // Uniform in [0, bound), unbiased; bound > 0.
  std::uint64_t Below(std::uint64_t bound);
  // Uniform in [0, 1).
  double Uniform();
  // Standard normal (Box, Muller 1958).
  double Normal();
  void FillBytes(std::span<std::byte> bytes);

 private:
  std::array<std::uint64_t, 4> state_{};
};

// Every order alike likely (Fisher, Yates).
template <class T>
void Shuffle(std::vector<T>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.Below(i)]);
}

}  // namespace pragma
