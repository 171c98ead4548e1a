// AffineForm: an integer that depends linearly on the indices of a shape, such as the offset of an
// element in memory. A view of a tensor only changes such forms, so it costs nothing at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pragma::expert {

using Shape = std::vector<std::int64_t>;

struct AffineForm {
  std::vector<std::int64_t> factor;  // one factor per dimension of the shape
  std::int64_t offset = 0;
  friend bool operator==(const AffineForm&, const AffineForm&) = default;
};

// Maps the indices of a view to the indices of the tensor that it views. There is one form (over
// the view's dimensions) for each dimension of the original tensor.
struct IndexMap {
  std::size_t rank = 0;  // number of dimensions of the view
  std::vector<AffineForm> index;
};

[[nodiscard]] std::int64_t Elements(const Shape& shape);
// Counts the elements over the dimensions `dims` only.
[[nodiscard]] std::int64_t Elements(const Shape& shape, const std::vector<std::size_t>& dims);
[[nodiscard]] AffineForm ZeroForm(std::size_t rank);
[[nodiscard]] AffineForm ContiguousForm(const Shape& shape);
[[nodiscard]] AffineForm Apply(const AffineForm& form, const IndexMap& map);

[[nodiscard]] IndexMap IdentityMap(std::size_t rank);
[[nodiscard]] IndexMap PermuteMap(const std::vector<std::int64_t>& order);
// Broadcasts `from` to `to` as torch does: shapes are aligned at the last dimension, and dimensions
// of size 1 are repeated.
[[nodiscard]] IndexMap BroadcastMap(const Shape& from, const Shape& to);

// Returns the form of the same elements, in row-major order, under another shape. Returns nullopt
// where that form is not linear.
[[nodiscard]] std::optional<AffineForm> Reshape(const AffineForm& form, const Shape& from,
                                                const Shape& to);

// Returns the shape to which torch broadcasts both shapes, or nullopt where they do not fit.
[[nodiscard]] std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b);

}  // namespace pragma::expert
