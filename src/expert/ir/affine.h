// AffineForm: an integer that depends linearly on the indices of a shape, such as the place of an
// element in memory. Views of tensors are changes of such forms, and cost nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pragma::expert {

using Shape = std::vector<std::int64_t>;

struct AffineForm {
  std::vector<std::int64_t> factor;  // one for each dimension of the shape
  std::int64_t offset = 0;
  friend bool operator==(const AffineForm&, const AffineForm&) = default;
};

// How the indices of a view lead to those of what is viewed: one form (over the view's dimensions)
// for each dimension of the original.
struct IndexMap {
  std::size_t rank = 0;  // of the view
  std::vector<AffineForm> index;
};

[[nodiscard]] std::int64_t Elements(const Shape& shape);
// Over these dimensions alone.
[[nodiscard]] std::int64_t Elements(const Shape& shape, const std::vector<std::size_t>& dims);
[[nodiscard]] AffineForm ZeroForm(std::size_t rank);
[[nodiscard]] AffineForm ContiguousForm(const Shape& shape);
[[nodiscard]] AffineForm Apply(const AffineForm& form, const IndexMap& map);

[[nodiscard]] IndexMap IdentityMap(std::size_t rank);
[[nodiscard]] IndexMap PermuteMap(const std::vector<std::int64_t>& order);
// `from` broadcast to `to` as torch does it: aligned at the last dimension, size 1 repeated.
[[nodiscard]] IndexMap BroadcastMap(const Shape& from, const Shape& to);

// The same elements in row-major order, seen with another shape; none where that is not linear.
[[nodiscard]] std::optional<AffineForm> Reshape(const AffineForm& form, const Shape& from,
                                                const Shape& to);

// The shape that torch broadcasts both to; none where they do not fit.
[[nodiscard]] std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace pragma::expert
