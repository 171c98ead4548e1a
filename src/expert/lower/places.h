// Positions that depend on data, shared by operators that read and that write through an index.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/lower/lowering.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {

// One position that comes from an index: the dimension of the tensor that it is along, and the
// index over the shape in which the tensor is read or written.
struct Place {
  std::size_t dimension = 0;
  Value index;
  bool from_end = true;  // whether it may be negative, and then counts from the end
};

// Where each element of a shape is in a tensor: an index gives some dimensions, `map` the others.
struct Addressing {
  std::vector<Place> places;
  IndexMap map;
};

// Returns the load of one tensor's elements at these places. `load` is a load over the tensor's
// shape.
[[nodiscard]] ExprPtr LoadAt(ProgramBuilder& builder, const Expr& load, const Shape& shape,
                             const Addressing& at);
// x[index along one dimension], as gather and scatter have it: `index` has the result's shape.
[[nodiscard]] Addressing AlongDimension(const Value& x, std::size_t dimension, const Value& index);
// x[:, i, j]. The dimensions of the indices, broadcast against each other, stand where the first
// index does. If something stands between two indices, they come first (NumPy's rule of advanced
// indexing). `shape` is that of the result.
[[nodiscard]] Addressing Indexed(ProgramBuilder& builder, const Shape& x, std::vector<Place> places,
                                 const Shape& shape);
// Returns the shape of x[indices].
[[nodiscard]] Shape IndexedShape(const Shape& x, const std::vector<Place>& places);
// Returns x at these places. `shape` is that of the result.
[[nodiscard]] Value Taken(ProgramBuilder& builder, const Value& x, const Addressing& at,
                          const Shape& shape);
// Returns the index tensors of `index` and `index_put`, which are a list with None for the
// dimensions that stay.
[[nodiscard]] Result<std::vector<Place>> IndicesOf(const NodeView& node);

}  // namespace pragma::expert
