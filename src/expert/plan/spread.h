// Spread: a sum of squared distances from a number that is derived from the sum of the same values,
// as in every variance. The values need not be read from memory twice for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "expert/ir/expression.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

struct Spread {
  std::size_t sum = 0;   // the step that sums the values
  std::size_t fold = 0;  // the step that sums (value - center)^2
  ExprPtr value;
  ExprPtr center;  // does not vary while the values are reduced
};

// Returns the spread formed by two consecutive passes of a nest.
[[nodiscard]] std::optional<Spread> SpreadOf(const Nest& nest, const Phase& first,
                                             const Phase& second);
// Returns the spread if this pass and the next are written as one.
[[nodiscard]] std::optional<Spread> SpreadAt(const Nest& nest, std::size_t phase);

// Returns whether vectors run along this pass and it sums at least `elements` elements.
[[nodiscard]] bool SumsOver(const Nest& nest, const Phase& phase, std::int64_t elements);

}  // namespace pragma::expert
