// TensorStructure: properties of a drawn tensor on which a kernel may rightly rely.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/task.h"

namespace pragma {

struct TensorStructure {
  double rms = 0;           // root mean square of all elements
  bool constant = false;    // all elements are equal, as constructed rather than drawn
  bool some_zeros = false;  // there are zeros among other values
  bool few_values = false;  // labels, signs, masks: many elements, few distinct values
  bool symmetric = false;   // symmetric in its last two dimensions
  bool rows_sum_to_one = false;
  bool non_finite = false;
};

// Detects the structure of a tensor. `data` holds the tensor's elements, contiguously. Floating
// dtypes only.
[[nodiscard]] TensorStructure DetectStructure(const TensorSpec& tensor, const std::byte* data);

// Detects the structure of every argument of a drawn set in PackedLayout(task). Entries of integer
// tensors are empty.
[[nodiscard]] std::vector<TensorStructure> DetectStructures(const Task& task,
                                                            std::span<const std::byte> packed);

// Copies the elements below the diagonal of the last two dimensions to above it.
void MirrorMatrices(const TensorSpec& tensor, std::byte* data);

}  // namespace pragma
