// OnePass: two folds of a nest, of which the second needs what the first comes to, made in one pass
// over the values: a largest and a sum of powers of e, as every softmax has them. (A sum and
// squared distances from a mean are a Spread.)
#pragma once

#include <cstddef>
#include <optional>

#include "expert/ir/expression.h"
#include "expert/plan/nest.h"

namespace pragma::expert::triton {

struct Powers {
  std::size_t largest = 0;  // the step that folds the values
  std::size_t sum = 0;      // the one that folds e^(value - largest)
  ExprPtr value;
};

// Of two passes of a nest that follow each other.
[[nodiscard]] std::optional<Powers> PowersOf(const Nest& nest, const Phase& first,
                                             const Phase& second);

}  // namespace pragma::expert::triton
