// Decides how the iterations of a nest are distributed over programs and tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {

enum class Inner : std::uint8_t {
  kNone,    // a map: elements along one axis
  kTurned,  // a map whose results lie across what it reads: tiles of rows and columns
  kWhole,   // the tile holds all reduced elements
  kBlocks,  // a loop over tiles
  kTaps,    // a loop over single elements, side by side for neighbouring results
};

// The longest row, in elements, that stays in registers: by default (kWholeRow), and where rows are
// preferably read again (kShortRow).
inline constexpr std::int64_t kWholeRow = 16384;
inline constexpr std::int64_t kShortRow = 2048;
inline constexpr std::int64_t kMostTaps = 128;
inline constexpr std::int64_t kUnrolledTaps = 32;
inline constexpr std::int64_t kProcessors = 132;  // number of processors of the GPU for which
                                                  // defaults are chosen
// Largest number of rows of a product of 16 bits whose time is that of loading the other operand.
inline constexpr std::int64_t kFewRowsOfProduct = 16;
// Number of multiplications on tensor cores. A smaller kernel finishes before the tuner has
// launched it (about 30 us).
inline constexpr std::int64_t kWorthTuning = std::int64_t{1} << 30;

// Returns whether neighbouring results read neighbouring memory, while neighbouring reduced
// elements do not.
[[nodiscard]] bool RunsDownColumns(const std::vector<Step>& steps, const Shape& shape,
                                   const std::vector<bool>& inner);
// The dimensions of a map whose largest tensor lies across its results, as in a transposition.
// Tiles have the dimension along which results are contiguous as their columns, and all others as
// their rows, the last of which is the one along which that tensor is contiguous.
struct Turned {
  std::vector<std::size_t> rows;
  std::size_t column = 0;
};
[[nodiscard]] std::optional<Turned> TurnedOf(const Nest& nest);
[[nodiscard]] Inner InnerOf(const Nest& nest, std::int64_t whole_row);
// Returns the configurations of a nest. The first is the default, for use without tuning.
[[nodiscard]] std::vector<Config> ConfigsOf(const Nest& nest, Inner inner);

}  // namespace pragma::expert::triton
