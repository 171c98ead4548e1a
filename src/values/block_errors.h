// The comparator's inner loops. They process one block of elements at a time as vector code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pragma {

// Elements of one block. Both sides of a block fit the first-level cache. A block is also short
// enough to be scanned a second time for the position of something that was found in it.
inline constexpr std::size_t kBlock = 1024;

// Relative errors of elements below this multiple of the smallest normal number say nothing: such
// elements have few digits or none.
inline constexpr double kWellAboveSmallest = 64;

struct BlockSquares {
  double sum = 0;           // sum of the squares of the finite elements
  std::int64_t finite = 0;  // number of finite elements
};
[[nodiscard]] BlockSquares SquaresOf(std::span<const double> values);

// The scale against which errors of one tensor are measured.
struct ErrorScale {
  double rms = 0;       // root mean square of the truth
  double largest = 0;   // a true value beyond it counts as infinite
  double smallest = 0;  // the dtype's smallest normal number. An error up to it counts as no error,
                        // so that flushing denormals to zero is allowed
};

// Error figures over the elements that are finite on both sides. y is the actual value and r the
// true one.
struct BlockErrors {
  double squared_error = 0;
  double squared = 0;  // sum of the squares of the truth
  double max_abs = 0;  // |y - r|
  double max_rel = 0;  // |y - r| / |r| where |r| > rms / 1000; for smaller elements it says nothing
  double max_any_rel = 0;  // as max_rel, where |r| > kWellAboveSmallest * smallest
  double max_scaled = 0;   // |y - r| / (|r| + rms)
  std::int64_t odd = 0;    // number of elements left out
};
// `actual` and `truth` have the same length.
[[nodiscard]] BlockErrors ErrorsOf(std::span<const double> actual, std::span<const double> truth,
                                   const ErrorScale& scale);

}  // namespace pragma
