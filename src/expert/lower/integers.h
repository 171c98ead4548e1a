// Integers are computed in 64 bits, whatever their type.
#pragma once

#include <optional>

#include "core/task.h"
#include "expert/ir/expression.h"

namespace pragma::expert {

// Returns the operator that wraps an integer to `dtype`, or nothing where no narrower type is
// meant.
[[nodiscard]] std::optional<ExprOp> NarrowingTo(DType dtype);
// Returns the value as arithmetic on `dtype` leaves it: what the type cannot hold wraps, before
// anything else reads it.
[[nodiscard]] ExprPtr Wrapped(const ExprPtr& expr, DType dtype);

}  // namespace pragma::expert
