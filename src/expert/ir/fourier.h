// How the points of a Fourier transform are divided, and which transforms are written at all.
#pragma once

#include <cstdint>
#include <vector>

namespace pragma::expert {

// Returns the factors of a number of points in the order in which they are transformed: fours
// first, then primes.
[[nodiscard]] std::vector<std::int64_t> RadicesOf(std::int64_t points);

// Returns whether a transform of so many points is written. A prime factor takes time that grows
// with its square, and the roots of unity are a table in the kernel.
[[nodiscard]] bool MayBeTransformed(std::int64_t points);

}  // namespace pragma::expert
