// Joining: which steps share the loops of a nest.
#pragma once

#include <functional>

#include "expert/affine.h"
#include "expert/nest.h"
#include "expert/program.h"

namespace pragma {

// Every form of a step, its operands' included.
void ChangeForms(Step& step, const std::function<void(AffineForm&)>& change);

// Makes a step the last of a nest, over its shape, over its outer dimensions, or over another shape
// of the same elements; false where it cannot be.
[[nodiscard]] bool Join(const Step& step, Nest& nest);
// The same of a map over a nest's outer dimensions, which come first.
[[nodiscard]] bool JoinOuter(const Step& step, Nest& nest);
[[nodiscard]] Nest Started(const Step& step);

}  // namespace pragma
