// ErrorPass: what one pass over an output and its truth collects, wherever the two lie.
#pragma once

#include <cstddef>

namespace pragma {

// Sums and maxima are of the elements that are finite on both sides.
struct ErrorPass {
  double sum_squared_error = 0;
  double sum_squared = 0;  // of the truth
  double max_abs = 0;
  double max_rel = 0;
  double max_scaled = 0;   // |y - r| / (|r| + rms)
  double max_any_rel = 0;  // |y - r| / |r| of every element well above the smallest normal number
  std::size_t worst = 0;   // where max_scaled is
  // Of floating outputs: not finite where the truth is finite. Of others: not equal.
  std::size_t mismatched = 0;
  std::size_t first_mismatch = 0;
  // Where the truth is NaN or infinite: anything else.
  std::size_t odd_truth = 0;
  std::size_t first_odd = 0;
};

}  // namespace pragma
