// Diagonals: where a matrix may differ from zero.
#pragma once

#include <cstdint>
#include <optional>

namespace pragma::expert {

// low <= column - row <= high.
struct Diagonals {
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high;
  [[nodiscard]] bool all() const { return !low && !high; }
  // Of the transposed matrix.
  [[nodiscard]] Diagonals Transposed() const {
    Diagonals turned;
    if (high) turned.low = -*high;
    if (low) turned.high = -*low;
    return turned;
  }
  friend bool operator==(const Diagonals&, const Diagonals&) = default;
};

}  // namespace pragma::expert
