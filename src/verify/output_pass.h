// One pass over an output and its truth: the figures that verdicts are made of. All processors take
// part in large ones; the figures do not depend on how many there are.
#pragma once

#include <cstddef>
#include <span>

#include "core/error_pass.h"
#include "core/task.h"
#include "verify/block_errors.h"
#include "verify/comparator.h"

namespace pragma {

// How an output's expected values are stored: a floating output's are float64, or its own type
// where there is no more room than for that.
[[nodiscard]] DType ExpectedType(const TensorSpec& spec, std::span<const std::byte> expected);

[[nodiscard]] ErrorScale ScaleOf(const OutputView& view);
// Of floating outputs.
[[nodiscard]] ErrorPass ScanOutput(const OutputView& view);

// Integers and booleans: equal to the truth, or to Torch's own result where it differs (near ties).
[[nodiscard]] ErrorPass ScanExact(const OutputView& view);

// Of a floating output's expected values.
[[nodiscard]] BlockSquares SquaresOfAll(const TensorSpec& spec,
                                        std::span<const std::byte> expected);
[[nodiscard]] double RmsOfFinite(const TensorSpec& spec, std::span<const std::byte> expected);

}  // namespace pragma
