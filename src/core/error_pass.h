// ErrorPass: the figures that one pass over an output and its fp64 reference (the truth) collects,
// wherever the two are stored.
#pragma once

#include <cstddef>

namespace pragma {

// Sums and maxima cover the elements that are finite in both the output and the truth.
struct ErrorPass {
  double sum_squared_error = 0;
  double sum_squared = 0;  // sum over the truth's elements
  double max_abs = 0;
  double max_rel = 0;
  double max_scaled = 0;   // |y - r| / (|r| + rms)
  double max_any_rel = 0;  // y - r| / |r| over the elements well above the smallest normal number
  std::size_t worst = 0;   // index of the element with max_scaled
  // For floating outputs: number of elements that are not finite where the truth is finite. For
  // other outputs: number of elements that are not equal.
  std::size_t mismatched = 0;
  std::size_t first_mismatch = 0;
  // Number of elements where the truth is NaN or infinite and the output is anything else.
  std::size_t odd_truth = 0;
  std::size_t first_odd = 0;
};

}  // namespace pragma
