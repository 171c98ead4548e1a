// Adaptive pooling to sizes that do not divide the input's: windows that differ by an element, and
// begin where no linear form says.
#pragma once

#include "expert/affine.h"
#include "expert/expression.h"
#include "expert/program.h"
#include "expert/program_builder.h"

namespace pragma {

// The last dimensions of x folded to `out`, one dimension after the other.
[[nodiscard]] Value AdaptiveFolded(ProgramBuilder& builder, const Value& x, const Shape& out,
                                   Fold fold);
// One over the number of elements of each window, over a tensor of this shape.
[[nodiscard]] ExprPtr AdaptiveWeight(const Shape& in, const Shape& out, const Shape& shape,
                                     ExprType type);

}  // namespace pragma
