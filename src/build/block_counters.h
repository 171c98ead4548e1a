// Two ways to learn which parts of a kernel run: an exact counter in each basic block, and the
// addresses of the blocks of an otherwise unchanged kernel, for a sampler.
//
// Both give an assembly text for the driver that wrote the first one (clang's is unknown to GNU's
// assembler). The shared object must export the data symbols named here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "build/assembly.h"

namespace pragma {

// std::uint64_t [number of blocks]: how often each block of the Assembly was entered since loading,
// and that number. They keep flags, registers and the red zone. They are exact with one thread;
// several lose counts, no more.
inline constexpr const char* kBlockCountsSymbol = "pragma_block_counts";
inline constexpr const char* kBlockCountSymbol = "pragma_block_count";
[[nodiscard]] std::string InsertBlockCounters(const Assembly& assembly);

// From an address of the table to the next larger one of it, code belongs to this block and line.
struct CodePlace {
  std::size_t block = 0;  // kOutside: to none
  int source_line = 0;
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
};

// void* [number of places], not sorted, and that number as std::uint64_t. No instruction differs
// from the original's.
inline constexpr const char* kPlaceAddressesSymbol = "pragma_place_addresses";
inline constexpr const char* kPlaceCountSymbol = "pragma_place_count";
struct PlacedAssembly {
  std::string text;
  std::vector<CodePlace> places;
};
[[nodiscard]] PlacedAssembly InsertPlaces(const Assembly& assembly);

}  // namespace pragma
