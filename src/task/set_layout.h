// SetLayout: where the tensors of one input/output set lie in shared memory.
#pragma once

#include <cstddef>
#include <vector>

#include "core/task.h"

namespace pragma {

inline constexpr std::size_t kTensorAlignment =
    64;  // bytes; what torch gives, and what kernels may rely on

struct SetLayout {
  std::vector<std::size_t> argument_offsets;  // bytes from the start of the set, in argument order
  std::vector<std::size_t> output_offsets;    // likewise, in a memory of their own
  std::size_t argument_bytes = 0;             // whole set, a multiple of the alignment
  std::size_t output_bytes = 0;
};

// Tensors one after the other, each aligned. Used for staging; the ring has its own placement.
[[nodiscard]] SetLayout PackedLayout(const Task& task);

// The same with every floating output as float64: how expected values travel.
[[nodiscard]] SetLayout ExpectedLayout(const Task& task);

}  // namespace pragma
