// Writes the kernel of a nest: maps, reductions and scans.
#pragma once

#include <cstdint>
#include <string>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_text.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {

[[nodiscard]] KernelText NestKernel(const Program& program, const Nest& nest,
                                    const std::string& name, std::int64_t whole_row);
// Returns a set of names that already excludes those that a kernel's variables cannot have.
[[nodiscard]] Names NamesFor(const Program& program);
// Returns whether offsets into that many elements, or offsets of the nest, need more than 32 bits.
[[nodiscard]] bool NeedsWideIndex(std::int64_t elements);
[[nodiscard]] bool NeedsWideIndex(const Program& program, const Nest& nest);

}  // namespace pragma::expert::triton
