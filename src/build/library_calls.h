// What a library function does, looked up by its name.
#pragma once

#include <cstdint>
#include <string_view>

namespace pragma {

enum class LibraryCall : std::uint8_t {
  kOther,
  kMath,
  kParallelRegion,
  kBarrier,
  kDispatch,  // hands out a task, or the next chunk of a loop that is not divided beforehand
  kLock,      // waits until no other thread holds the lock
  kSingle,    // begins a part of a region that one thread executes while the others go on or wait
  kAllocation,
};

struct LibraryCallFacts {
  LibraryCall kind = LibraryCall::kOther;
  std::uint64_t elements = 0;  // for kMath: number of elements that one call computes
};

[[nodiscard]] LibraryCallFacts LookUpCall(std::string_view name);

}  // namespace pragma
