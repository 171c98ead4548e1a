// SetLayout: where the tensors of one input/output set are located in shared memory.
#pragma once

#include <cstddef>
#include <vector>

#include "core/task.h"

namespace pragma {

inline constexpr std::size_t kTensorAlignment =
    64;  // bytes; PyTorch aligns so, and kernels may rely on it

struct SetLayout {
  std::vector<std::size_t> argument_offsets;  // bytes from the start of the set, in argument order
  std::vector<std::size_t> output_offsets;    // bytes from the start of the set's outputs, which
                                              // have their own memory
  std::size_t argument_bytes = 0;             // size of all arguments, a multiple of the alignment
  std::size_t output_bytes = 0;
};

// Places the tensors one after the other, each aligned. Used for staging. The ring has its own
// placement.
[[nodiscard]] SetLayout PackedLayout(const Task& task);

// Like PackedLayout, with every floating output as float64. Expected values are passed in this
// layout.
[[nodiscard]] SetLayout ExpectedLayout(const Task& task);

}  // namespace pragma
