// Adaptive pooling to sizes that do not divide the input's: windows that differ by an element, and
// begin where no linear form says.
#pragma once

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/lower/program_builder.h"

namespace pragma::expert {

// The last dimensions of x folded to `out`, one dimension after the other.
[[nodiscard]] Value AdaptiveFolded(ProgramBuilder& builder, const Value& x, const Shape& out,
                                   Fold fold);
// One over the number of elements of each window, over a tensor of this shape.
[[nodiscard]] ExprPtr AdaptiveWeight(const Shape& in, const Shape& out, const Shape& shape,
                                     ExprType type);

}  // namespace pragma::expert
