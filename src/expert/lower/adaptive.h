// Adaptive pooling to an output size that does not divide the input size. Window lengths differ by
// up to one element, and the start of a window is not an affine function of its index.
#pragma once

#include <vector>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {

// Adds up the last dimensions of x to the sizes `out`, one dimension after the other.
[[nodiscard]] Value AdaptiveSum(ProgramBuilder& builder, const Value& x, const Shape& out);
// Returns the maximum of each window of the last dimensions of x, and its flat index in these
// dimensions.
[[nodiscard]] std::vector<Value> AdaptiveMaximum(ProgramBuilder& builder, const Value& x,
                                                 const Shape& out);
// Returns the reciprocal of the number of elements of each window, as an expression over a tensor
// of shape `shape`.
[[nodiscard]] ExprPtr AdaptiveWeight(const Shape& in, const Shape& out, const Shape& shape,
                                     ExprType type);

}  // namespace pragma::expert
