// TileIndex: how the dimensions of a nest are counted along the axes of a kernel's tiles, and the
// text of forms over them. Neighbours of an axis that a form counts through like one dimension are
// one index: it is shorter, the compiler sees that it is contiguous, and Triton 3.6 was seen to
// compile `k // 9 * 9 + k // 3 % 3 * 3 + k % 3` to something other than k for two of 27 values.
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
  // "row_1 = row // 4 % 3" for each index that was used since the last call.
  [[nodiscard]] std::vector<std::string> Definitions(std::size_t axis);
  // These, and which elements are there where not all are: the lines of an axis.
  void Define(std::size_t axis, PyLines& out);
  // "row_inside = row < 300" where something is outside, else nothing.
  [[nodiscard]] std::string InsideDefinition(std::size_t axis) const;
  // "row_inside[:, None] & column_inside[None, :]"; empty where nothing is outside.
  [[nodiscard]] std::string Inside(Axes axes) const;
  // Something that has all these axes, and is zero.
  [[nodiscard]] std::string Zero(Axes axes) const;
  [[nodiscard]] std::int64_t Count(std::size_t axis) const;
  [[nodiscard]] const std::vector<TileAxis>& axes() const { return axes_; }

 private:
  // Dimensions of an axis that are counted as one, by their places in it.
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
