// The comparator's inner loops, over one block of elements at a time, as vector code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pragma {

// Elements looked at in one go: both sides fit the first-level cache, and a block is short enough
// to be looked at again for the place of what was found in it.
inline constexpr std::size_t kBlock = 1024;

// Relative errors of smaller elements say nothing: they have few digits, or none.
inline constexpr double kWellAboveSmallest = 64;

struct BlockSquares {
  double sum = 0;           // of the squares of the finite elements
  std::int64_t finite = 0;  // how many those are
};
[[nodiscard]] BlockSquares SquaresOf(std::span<const double> values);

// The scale that errors of one tensor are held against.
struct ErrorScale {
  double rms = 0;       // of the truth
  double largest = 0;   // a truth beyond it counts as infinite
  double smallest = 0;  // the dtype's smallest normal number: an error up to it is none, so that
                        // flushing denormals to zero is allowed
};

// Of the elements that are finite on both sides.
struct BlockErrors {
  double squared_error = 0;
  double squared = 0;      // of the truth
  double max_abs = 0;      // |y - r|
  double max_rel = 0;      // |y - r| / |r| where |r| > rms / 1000: below, it says nothing
  double max_any_rel = 0;  // the same where |r| > kWellAboveSmallest * smallest
  double max_scaled = 0;   // |y - r| / (|r| + rms)
  std::int64_t odd = 0;    // elements left out
};
// `actual` and `truth` have the same length.
[[nodiscard]] BlockErrors ErrorsOf(std::span<const double> actual, std::span<const double> truth,
                                   const ErrorScale& scale);

}  // namespace pragma
