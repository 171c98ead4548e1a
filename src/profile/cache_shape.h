// CacheShape: size and associativity of one cache, for cache simulators.
#pragma once

#include <cstddef>
#include <filesystem>

namespace pragma {

struct CacheShape {
  std::size_t bytes = 0;  // 0: the cache does not exist or is unknown
  int ways = 0;
  int line = 64;
};

struct CacheShapes {
  CacheShape instructions;  // first level
  CacheShape data;          // first level
  CacheShape second;
  CacheShape third;
  bool assumed = false;  // true: the first or second level was unknown, so a common size is used
};

// Reads the cache shapes that the Linux kernel reports for the first processor.
[[nodiscard]] CacheShapes ReadCacheShapes(
    const std::filesystem::path& folder = "/sys/devices/system/cpu/cpu0/cache");
// Returns a cache of the same capacity whose number of sets is a power of two, as simulators
// require.
[[nodiscard]] CacheShape WithPowerOfTwoSets(const CacheShape& shape);

}  // namespace pragma
