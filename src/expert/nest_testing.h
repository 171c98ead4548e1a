// Helpers for tests of nests: steps over rows and columns.
#pragma once

#include <cstdint>
#include <utility>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// Returns a load of an element of a contiguous matrix.
[[nodiscard]] inline ExprPtr Row(int buffer, std::int64_t columns) {
  return LoadOf(buffer, {{columns, 1}, 0}, ExprType::kFloat);
}

// Returns a step over a matrix. A reduction runs along rows.
[[nodiscard]] inline Step Of(Step::Kind kind, const Shape& shape, ExprPtr expr, int buffer,
                             AffineForm place) {
  Step step;
  step.kind = kind;
  step.shape = shape;
  step.folded = {false, kind == Step::Kind::kFold};
  step.expr = std::move(expr);
  step.buffer = buffer;
  step.place = std::move(place);
  step.name = "step";
  return step;
}

}  // namespace pragma::expert
