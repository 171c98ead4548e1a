// Anchored nests: a product, convolution or attention that a generator of its family writes, with
// the pointwise steps behind it as its epilogue.
#pragma once

#include <cstddef>
#include <optional>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// Dimensions of a product's nest, [batch, row, column].
inline constexpr std::size_t kRow = 1;
inline constexpr std::size_t kColumn = 2;

// A nest over them around this step; none where no generator takes it.
[[nodiscard]] std::optional<Nest> AnchorNest(const Program& program, const Step& step);
// Makes a step the anchor's epilogue; false where it cannot be.
[[nodiscard]] bool JoinAnchor(const Program& program, const Step& step, Nest& nest);

}  // namespace pragma::expert
