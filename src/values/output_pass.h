// One pass over an output and its truth: it computes the figures that verdicts are made of. All
// processors take part for large outputs. The figures do not depend on how many processors there
// are.
#pragma once

#include <cstddef>
#include <span>

#include "core/error_pass.h"
#include "core/task.h"
#include "values/block_errors.h"
#include "values/comparator.h"

namespace pragma {

// Returns the type in which an output's expected values are stored. For a floating output this is
// float64, or the output's own type if there is room only for that.
[[nodiscard]] DType ExpectedType(const TensorSpec& spec, std::span<const std::byte> expected);

[[nodiscard]] ErrorScale ScaleOf(const OutputView& view);
// Computes the figures of a floating output.
[[nodiscard]] ErrorPass ScanOutput(const OutputView& view);

// Computes the figures of an output of integers or booleans. An element must equal the truth, or
// Torch's own result where that differs from the truth (near ties).
[[nodiscard]] ErrorPass ScanExact(const OutputView& view);

// Sum of squares and root mean square of a floating output's expected values.
[[nodiscard]] BlockSquares SquaresOfAll(const TensorSpec& spec,
                                        std::span<const std::byte> expected);
[[nodiscard]] double RmsOfFinite(const TensorSpec& spec, std::span<const std::byte> expected);

}  // namespace pragma
