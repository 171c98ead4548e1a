// Diagonals: the band of a matrix in which elements may differ from zero.
#pragma once

#include <cstdint>
#include <optional>

namespace pragma::expert {

// Elements may be nonzero only where low <= column - row <= high. A missing bound means no limit.
struct Diagonals {
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high;
  [[nodiscard]] bool all() const { return !low && !high; }
  // Returns the band of the transposed matrix.
  [[nodiscard]] Diagonals Transposed() const {
    Diagonals turned;
    if (high) turned.low = -*high;
    if (low) turned.high = -*low;
    return turned;
  }
  friend bool operator==(const Diagonals&, const Diagonals&) = default;
};

}  // namespace pragma::expert
