// TileIndex: how the dimensions of a nest are counted along the axes of a kernel's tiles, and the
// text of forms over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "expert/affine.h"

namespace pragma::triton {

// One axis of the tiles: a variable that numbers elements, from which the indices of dimensions
// are taken, outermost first.
struct TileAxis {
  std::string index;   // "row"
  std::string suffix;  // "[:, None]" where tiles have two dimensions
  std::vector<std::size_t> dims;
  std::string inside;  // a variable: which elements are there; empty: all
};

// Which axes a value varies with: bit i for axis i.
using Axes = unsigned;

struct IndexText {
  std::string code;
  Axes axes = 0;
};

class TileIndex final {
 public:
  TileIndex(Shape shape, std::vector<TileAxis> axes);

  [[nodiscard]] IndexText Text(const AffineForm& form);
  [[nodiscard]] Axes AxesOf(const AffineForm& form) const;
  // "row_1 = row // 4 % 3" for each dimension whose index was used since the last call.
  [[nodiscard]] std::vector<std::string> Definitions(std::size_t axis);
  // "row_inside[:, None] & column_inside[None, :]"; empty where nothing is outside.
  [[nodiscard]] std::string Inside(Axes axes) const;
  // Something that has all these axes, and is zero.
  [[nodiscard]] std::string Zero(Axes axes) const;
  [[nodiscard]] std::int64_t Count(std::size_t axis) const;
  [[nodiscard]] const std::vector<TileAxis>& axes() const { return axes_; }

 private:
  [[nodiscard]] std::string DimName(std::size_t axis, std::size_t dim);

  Shape shape_;
  std::vector<TileAxis> axes_;
  std::set<std::size_t> used_;
};

}  // namespace pragma::triton
