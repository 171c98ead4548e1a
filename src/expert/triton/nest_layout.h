// NestLayout: how the iterations of a nest are laid out over programs and tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "expert/plan/nest.h"
#include "expert/ir/program.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {

enum class Inner : std::uint8_t {
  kNone,    // a map: elements along one axis
  kWhole,   // what is folded lies in the tile as a whole
  kBlocks,  // a loop over tiles
  kTaps,    // a loop over single elements, side by side for neighbouring results
};

// Elements of a row that stay in registers, and where rows are rather read again.
inline constexpr std::int64_t kWholeRow = 16384;
inline constexpr std::int64_t kShortRow = 2048;
inline constexpr std::int64_t kMostTaps = 128;
inline constexpr std::int64_t kUnrolledTaps = 32;
inline constexpr std::int64_t kProcessors = 132;  // of the GPU that defaults are chosen for

// Whether neighbouring results read neighbouring memory, and what is folded does not.
[[nodiscard]] bool RunsDownColumns(const std::vector<Step>& steps, const Shape& shape,
                                   const std::vector<bool>& inner);
[[nodiscard]] Inner InnerOf(const Nest& nest, std::int64_t whole_row);
// The first is the one to take where nothing is tuned.
[[nodiscard]] std::vector<Config> ConfigsOf(const Nest& nest, Inner inner);

}  // namespace pragma::expert::triton
