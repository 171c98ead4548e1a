// One pass over an output and its truth: the figures that verdicts are made of. All processors take
// part in large ones; the figures do not depend on how many there are.
#pragma once

#include <cstddef>
#include <span>

#include "core/error_pass.h"
#include "verify/block_errors.h"
#include "verify/comparator.h"

namespace pragma {

// Of floating outputs; expected is float64.
[[nodiscard]] ErrorPass ScanOutput(const OutputView& view);

// Integers and booleans: equal to the truth, or to Torch's own result where it differs (near ties).
[[nodiscard]] ErrorPass ScanExact(const OutputView& view);

// Of `count` doubles.
[[nodiscard]] BlockSquares SquaresOfAll(std::span<const std::byte> expected, std::size_t count);
[[nodiscard]] double RmsOfFinite(std::span<const std::byte> expected, std::size_t count);

}  // namespace pragma
