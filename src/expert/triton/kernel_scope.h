// What the kernels of a module have in common: names that variables cannot have, and the width of
// indices.
#pragma once

#include <cstdint>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {

// Returns a set of names that already excludes those that a kernel's variables cannot have.
[[nodiscard]] Names NamesFor(const Program& program);
// Returns whether offsets into that many elements, or offsets of the nest, need more than 32 bits.
[[nodiscard]] bool NeedsWideIndex(std::int64_t elements);
[[nodiscard]] bool NeedsWideIndex(const Program& program, const Nest& nest);

}  // namespace pragma::expert::triton
