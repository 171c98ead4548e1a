// Two ways to learn which parts of a kernel run: an exact counter in each basic block, or the block
// addresses of an otherwise unchanged kernel, for a sampler.
//
// Both return an assembly text for the compiler driver that wrote the original (GNU's assembler
// does not understand clang's output). The shared object must export the data symbols named here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "build/assembly.h"

namespace pragma {

// Two symbols: std::uint64_t [number of blocks] counts how often each block of the Assembly was
// entered since loading, and the second holds the number of blocks. The counters preserve flags,
// registers and the red zone. They are exact with one thread. With several threads they may only
// lose counts.
inline constexpr const char* kBlockCountsSymbol = "pragma_block_counts";
inline constexpr const char* kBlockCountSymbol = "pragma_block_count";
[[nodiscard]] std::string InsertBlockCounters(const Assembly& assembly);

// CodePlace: the code from one address of the table to the next larger one belongs to this block
// and line.
struct CodePlace {
  std::size_t block = 0;  // kOutside: the code belongs to no block
  int source_line = 0;
  static constexpr std::size_t kOutside = static_cast<std::size_t>(-1);
};

// Two symbols: void* [number of places], not sorted, and the number of places as std::uint64_t. No
// instruction differs from the original.
inline constexpr const char* kPlaceAddressesSymbol = "pragma_place_addresses";
inline constexpr const char* kPlaceCountSymbol = "pragma_place_count";
struct PlacedAssembly {
  std::string text;
  std::vector<CodePlace> places;
};
[[nodiscard]] PlacedAssembly InsertPlaces(const Assembly& assembly);

}  // namespace pragma
