// Finds two reductions of a nest, of which the second needs the result of the first, that can be
// computed in one pass over the values: a maximum and a sum of exponentials, as in every softmax.
// (A sum and squared distances from a mean are a Spread.)
#pragma once

#include <cstddef>
#include <optional>

#include "expert/ir/expression.h"
#include "expert/plan/nest.h"

namespace pragma::expert::triton {

struct Powers {
  std::size_t largest = 0;  // the step that finds the maximum of the values
  std::size_t sum = 0;      // the step that sums exp(value - largest)
  ExprPtr value;
};

// Returns the pair formed by two consecutive passes of a nest.
[[nodiscard]] std::optional<Powers> PowersOf(const Nest& nest, const Phase& first,
                                             const Phase& second);

}  // namespace pragma::expert::triton
