// Randomness: secrets from the operating system, and random streams from a recorded seed.
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

// A seed of 128 bits. Records print it as 32 hex digits.
using Seed = std::array<std::uint64_t, 2>;

// Returns a seed from getrandom(2).
[[nodiscard]] Seed SystemSeed();
[[nodiscard]] std::string SeedToHex(const Seed& seed);
[[nodiscard]] Result<Seed> SeedFromHex(std::string_view hex);
// Derives a seed for one purpose with SHA-256, so that knowing one derived seed tells nothing about
// another.
[[nodiscard]] Seed DeriveSeed(const Seed& seed, std::string_view purpose);

// Rng: the generator xoshiro256** (Blackman, Vigna 2018). Not for secrets by itself: seed it from
// SystemSeed().
class Rng final {
 public:
  using result_type = std::uint64_t;
  explicit Rng(const Seed& seed);
  std::uint64_t operator()();
  static constexpr std::uint64_t min() { return 0; }
  static constexpr std::uint64_t max() { return ~std::uint64_t{0}; }
  // Returns an unbiased uniform integer in [0, bound). `bound` must be greater than 0.
  std::uint64_t Below(std::uint64_t bound);
  // Returns a uniform number in [0, 1).
  double Uniform();
  // Returns a standard normal number (Box, Muller 1958).
  double Normal();
  void FillBytes(std::span<std::byte> bytes);

 private:
  std::array<std::uint64_t, 4> state_{};
};

// Shuffles the items. Every order is equally likely (Fisher, Yates).
template <class T>
void Shuffle(std::vector<T>& items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.Below(i)]);
}

}  // namespace pragma
