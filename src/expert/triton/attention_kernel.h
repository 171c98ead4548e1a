// Writes the kernel of a fused attention: each program takes a block of rows and walks over blocks
// of keys. A row keeps its largest score so far, the sum of its weights and the weighted sum of the
// values; where a block has a larger score, the sums so far are scaled (online soft-max: Milakov
// and Gimelshein 2018, Dao et al. 2022). Scores are never in memory. Blocks that a causal mask
// hides are skipped, and only the blocks that it cuts look at the mask.
#pragma once

#include <cstdint>
#include <string>

#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {

// `shared_bytes` is the shared memory that a block may use.
[[nodiscard]] KernelText AttentionKernel(const Program& program, const Nest& nest,
                                         const std::string& name, std::int64_t shared_bytes);

}  // namespace pragma::expert::triton
