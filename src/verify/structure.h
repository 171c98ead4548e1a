// TensorStructure: what a drawn tensor shows that a kernel may rightly rely on.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/task.h"

namespace pragma {

struct TensorStructure {
  double rms = 0;           // of all elements
  bool constant = false;    // all elements equal: as constructed, not drawn
  bool some_zeros = false;  // zeros among other values
  bool few_values = false;  // labels, signs, masks: many elements, few distinct values
  bool symmetric = false;   // in its last two dimensions
  bool rows_sum_to_one = false;
  bool non_finite = false;
};

// `data`: the tensor's elements, contiguous. Floating dtypes only.
[[nodiscard]] TensorStructure DetectStructure(const TensorSpec& tensor, const std::byte* data);

// Of every argument of a drawn set in PackedLayout(task); those of integer tensors are empty.
[[nodiscard]] std::vector<TensorStructure> DetectStructures(const Task& task,
                                                            std::span<const std::byte> packed);

// Copies what lies below the diagonal of the last two dimensions to above it.
void MirrorMatrices(const TensorSpec& tensor, std::byte* data);

}  // namespace pragma
