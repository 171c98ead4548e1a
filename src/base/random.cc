#include "base/random.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numbers>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"

namespace pragma {
namespace {

std::uint64_t SplitMix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

Seed SystemSeed() {
  Seed seed{};
  // getrandom cannot fail for 16 bytes once the entropy pool is ready. Without it no candidate may
  // be judged.
  if (::getrandom(seed.data(), sizeof(seed), 0) != sizeof(seed)) std::abort();
  return seed;
}

std::string SeedToHex(const Seed& seed) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint64_t word : seed) {
    for (unsigned shift = 64; shift > 0; shift -= 4) hex += kDigits[(word >> (shift - 4)) & 15U];
  }
  return hex;
}

Result<Seed> SeedFromHex(std::string_view hex) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (hex.size() != 32) return Fail(ErrorKind::kUsage, "a seed has 32 hex digits");
  Seed seed{};
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const std::size_t digit = kDigits.find(hex[i]);
    if (digit == std::string_view::npos) return Fail(ErrorKind::kUsage, "a seed has 32 hex digits");
    seed.at(i / 16) = (seed.at(i / 16) << 4U) | digit;
  }
  return seed;
}

Seed DeriveSeed(const Seed& seed, std::string_view purpose) {
  const std::string digest = Sha256Hex(SeedToHex(seed) + ":" + std::string(purpose));
  return SeedFromHex(std::string_view(digest).substr(0, 32)).value();
}

Rng::Rng(const Seed& seed) {
  std::uint64_t mixed = seed[0] ^ std::rotl(seed[1], 32);
  for (std::size_t i = 0; i < state_.size(); ++i) state_.at(i) = SplitMix(mixed) ^ seed.at(i % 2);
}

std::uint64_t Rng::operator()() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::Below(std::uint64_t bound) {
  const std::uint64_t limit = max() - max() % bound;
  std::uint64_t value = (*this)();
  while (value >= limit) value = (*this)();
  return value % bound;
}

double Rng::Uniform() { return static_cast<double>((*this)() >> 11U) * 0x1.0p-53; }

double Rng::Normal() {
  const double radius = std::sqrt(-2 * std::log(1 - Uniform()));  // 1 - U is never zero
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

void Rng::FillBytes(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t word = (*this)();
    const std::size_t n = std::min(bytes.size(), sizeof(word));
    std::memcpy(bytes.data(), &word, n);
    bytes = bytes.subspan(n);
  }
}

}  // namespace pragma
