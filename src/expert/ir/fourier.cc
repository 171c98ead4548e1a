#include "expert/ir/fourier.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pragma::expert {
namespace {

constexpr std::int64_t kMostPoints = 65536;
constexpr std::int64_t kLargestPrime = 512;

}  // namespace

std::vector<std::int64_t> RadicesOf(std::int64_t points) {
  std::vector<std::int64_t> radices;
  for (; points % 4 == 0; points /= 4) radices.push_back(4);
  for (std::int64_t prime = 2; points > 1; ++prime)
    for (; points % prime == 0; points /= prime) radices.push_back(prime);
  return radices;
}

bool MayBeTransformed(std::int64_t points) {
  if (points < 1 || points > kMostPoints) return false;
  return std::ranges::all_of(RadicesOf(points),
                             [](std::int64_t radix) { return radix <= kLargestPrime; });
}

}  // namespace pragma::expert
