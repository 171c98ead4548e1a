// TileIndex: how the dimensions of a nest are counted along the axes of a kernel's tiles, and the
// code of forms over them. Neighbouring dimensions of an axis that a form treats like one dimension
// share one index. The code is then shorter, and the compiler sees that the access is contiguous.
// It also avoids a miscompilation: Triton 3.6 compiled `k // 9 * 9 + k // 3 % 3 * 3 + k % 3` to
// something other than k for two of 27 values.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "expert/ir/affine.h"
#include "expert/triton/py_lines.h"

namespace pragma::expert::triton {

// One axis of the tiles: a variable that numbers elements, from which the indices of the dimensions
// are computed, outermost first.
struct TileAxis {
  std::string index;   // name of the variable, such as "row"
  std::string suffix;  // "[:, None]" where tiles have two dimensions
  std::vector<std::size_t> dims;
  std::string inside;  // mask variable for the elements that exist; empty: all exist
};

// The axes with which a value varies: bit i stands for axis i.
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
  // Returns a definition such as "row_1 = row // 4 % 3" for each index used since the last call.
  [[nodiscard]] std::vector<std::string> Definitions(std::size_t axis);
  // Writes the lines of an axis: these definitions, and the mask of the elements that exist, where
  // not all do.
  void Define(std::size_t axis, PyLines& out);
  // Returns a line such as "row_inside = row < 300", or an empty string where all elements exist.
  [[nodiscard]] std::string InsideDefinition(std::size_t axis) const;
  // Returns a mask such as "row_inside[:, None] & column_inside[None, :]", or an empty string where
  // all elements exist.
  [[nodiscard]] std::string Inside(Axes axes) const;
  // Returns code for a value that is zero and varies with all these axes.
  [[nodiscard]] std::string Zero(Axes axes) const;
  [[nodiscard]] std::int64_t Count(std::size_t axis) const;
  [[nodiscard]] const std::vector<TileAxis>& axes() const { return axes_; }

 private:
  // Dimensions of an axis that are counted as one, given by their positions in the axis.
  struct Span {
    std::size_t axis = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    auto operator<=>(const Span&) const = default;
  };
  [[nodiscard]] Span SpanAt(const AffineForm& form, std::size_t axis, std::size_t first) const;
  [[nodiscard]] std::string Name(const Span& span) const;
  [[nodiscard]] std::string Definition(const Span& span) const;
  [[nodiscard]] std::string Terms(const AffineForm& form, std::size_t axis);

  Shape shape_;
  std::vector<TileAxis> axes_;
  std::set<Span> used_;
};

}  // namespace pragma::expert::triton
