// Writes two reductions of which the second needs the result of the first as one walk over the
// tiles of a row: a sum and squared distances from its mean, or a maximum and a sum of powers of e.
#pragma once

#include <cstddef>

#include "expert/triton/tile_context.h"

namespace pragma::expert::triton {

// Writes pass `p` and the next one, if they are such a pair. Returns whether they are.
[[nodiscard]] bool WriteOneWalk(TileContext& context, std::size_t p);

}  // namespace pragma::expert::triton
