// Decides which steps share the loops of a nest, and joins them.
#pragma once

#include <functional>

#include "expert/ir/affine.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// Applies `change` to every form of a step, including the forms of its operands.
void ChangeForms(Step& step, const std::function<void(AffineForm&)>& change);

// Appends a step to a nest. The step is over the nest's shape, over its outer dimensions, or over
// another shape with the same elements. Returns false where it cannot join.
[[nodiscard]] bool JoinInner(const Step& step, Nest& nest);
// Appends a map over a nest's outer dimensions, which must come first. Returns false where it
// cannot join.
[[nodiscard]] bool JoinOuter(const Step& step, Nest& nest);
[[nodiscard]] Nest Started(const Step& step);

}  // namespace pragma::expert
