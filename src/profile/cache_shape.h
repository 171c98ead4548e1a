// CacheShape: size and associativity of one cache, for models that are fed with addresses.
#pragma once

#include <cstddef>
#include <filesystem>

namespace pragma {

struct CacheShape {
  std::size_t bytes = 0;  // 0: there is none, or it is not known
  int ways = 0;
  int line = 64;
};

struct CacheShapes {
  CacheShape instructions;  // first level
  CacheShape data;          // first level
  CacheShape second;
  CacheShape third;
  bool assumed = false;  // a first or second level was not told, and common sizes stand in
};

// As the kernel tells it of the first processor.
[[nodiscard]] CacheShapes ReadCacheShapes(
    const std::filesystem::path& folder = "/sys/devices/system/cpu/cpu0/cache");
// The same capacity with a number of sets that is a power of two, as models want it.
[[nodiscard]] CacheShape WithPowerOfTwoSets(const CacheShape& shape);

}  // namespace pragma
