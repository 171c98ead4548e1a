// What a library function does, looked up by its name.
#pragma once

#include <cstdint>
#include <string_view>

namespace pragma {

enum class LibraryCall : std::uint8_t { kOther, kMath, kParallelRegion, kBarrier, kAllocation };

struct LibraryCallFacts {
  LibraryCall kind = LibraryCall::kOther;
  std::uint64_t elements = 0;  // for kMath: number of elements that one call computes
};

[[nodiscard]] LibraryCallFacts LookUpCall(std::string_view name);

}  // namespace pragma
