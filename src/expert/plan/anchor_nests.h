// Anchored nests. An anchored nest is a product, a convolution or an attention that the generator
// of its family writes, with the pointwise steps behind it as the epilogue.
#pragma once

#include <cstddef>
#include <optional>

#include "expert/ir/affine.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// Dimensions of a product's nest, which is [batch, row, column].
inline constexpr std::size_t kRowOfNest = 1;
inline constexpr std::size_t kColumnOfNest = 2;

// Returns whether results at this place are next to each other in one of the two dimensions, as a
// generator of products stores them. A dimension of size 1 does not count.
[[nodiscard]] bool StoresLines(const Shape& shape, const AffineForm& place, std::size_t row,
                               std::size_t column);
// Returns a nest over these dimensions around `step`, or nullopt where no generator supports the
// step.
[[nodiscard]] std::optional<Nest> AnchorNest(const Program& program, const Step& step);
// Returns a nest over [batch..., row, column] around a fused attention.
[[nodiscard]] Nest AttentionNest(const Step& step);
// Makes `step` part of the anchor's epilogue. Returns false where that is not possible.
[[nodiscard]] bool JoinAnchor(const Program& program, const Step& step, Nest& nest);

}  // namespace pragma::expert
