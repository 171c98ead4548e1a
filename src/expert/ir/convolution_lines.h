// The lines of a convolution: how its outputs, taps and inputs correspond along one spatial
// dimension. A transposed convolution is split by the residue of the output index modulo the
// stride. Within one residue its taps form an ordinary window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "expert/ir/program.h"

namespace pragma::expert {

// One line of outputs along one spatial dimension: outputs first + step * q for q below `count`.
// Each is summed over the taps tap_first + tap_step * t for t below `taps`, applied to input q *
// in_step + t * in_tap + in_offset.
struct ConvolutionLine {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  std::int64_t tap_first = 0;
  std::int64_t tap_step = 1;
  std::int64_t taps = 0;
  std::int64_t in_step = 1;
  std::int64_t in_tap = 1;
  std::int64_t in_offset = 0;

  // The smallest and the largest place that is read, which may lie outside the input. Without taps
  // nothing is read.
  [[nodiscard]] std::int64_t Lowest() const;
  [[nodiscard]] std::int64_t Highest() const;
};

// Returns the lines of a spatial dimension: a single one, or one for each residue.
[[nodiscard]] std::vector<ConvolutionLine> LinesOf(const ConvolutionHint& form, std::size_t dim);

// Returns every combination of one line for each spatial dimension, the last dimension fastest.
// Each is a part of the output that one step computes.
[[nodiscard]] std::vector<std::vector<ConvolutionLine>> ConvolutionParts(
    const ConvolutionHint& form);

}  // namespace pragma::expert
