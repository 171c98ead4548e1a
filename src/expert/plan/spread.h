// Spreads: sums of squared distances from a number that a sum of the same values leads to, as every
// variance has them. The values need not be read twice from memory for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "expert/ir/expression.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

struct Spread {
  std::size_t sum = 0;   // the step that folds the values
  std::size_t fold = 0;  // the one that folds (value - center)^2
  ExprPtr value;
  ExprPtr center;  // does not vary while the values are folded
};

// Of two passes of a nest that follow each other.
[[nodiscard]] std::optional<Spread> SpreadOf(const Nest& nest, const Phase& first,
                                             const Phase& second);
// Whether this pass and the next are written as one.
[[nodiscard]] std::optional<Spread> SpreadAt(const Nest& nest, std::size_t phase);

// Whether vectors run along this pass, which sums at least so many elements.
[[nodiscard]] bool SumsOver(const Nest& nest, const Phase& phase, std::int64_t elements);

}  // namespace pragma::expert
