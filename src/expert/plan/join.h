// Joining: which steps share the loops of a nest.
#pragma once

#include <functional>

#include "expert/ir/affine.h"
#include "expert/plan/nest.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// Every form of a step, its operands' included.
void ChangeForms(Step& step, const std::function<void(AffineForm&)>& change);

// Makes a step the last of a nest, over its shape, over its outer dimensions, or over another shape
// of the same elements; false where it cannot be.
[[nodiscard]] bool Join(const Step& step, Nest& nest);
// The same of a map over a nest's outer dimensions, which come first.
[[nodiscard]] bool JoinOuter(const Step& step, Nest& nest);
[[nodiscard]] Nest Started(const Step& step);

}  // namespace pragma::expert
