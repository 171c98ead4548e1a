// Reductions over windows in two steps. Along a row of vectors, neighbouring windows read the same
// elements, and not contiguously. The other dimensions of the window have neither problem. So they
// are reduced first, into a row that stays in the L1 cache and already holds the values outside the
// tensor. The row is then reduced along itself. A 3 x 3 window takes three contiguous loads and
// three others instead of nine of the latter kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "expert/cpp/nest_context.h"
#include "expert/cpp/nest_limits.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// Windows along the dimension of the lanes. A window reads element c * stride + w * step of a row,
// which the other dimensions select.
struct Windows {
  const Step* step = nullptr;
  const Load* load = nullptr;
  std::size_t across = 0;  // the dimension of w
  std::int64_t stride = 1;
  std::int64_t apart = 1;
  std::optional<Bound> bound;  // bound of the row
  LoopLimits limits;           // limits of the other dimensions
  [[nodiscard]] std::int64_t Span(std::int64_t windows, std::int64_t width) const {
    return (windows - 1) * stride + (width - 1) * apart + 1;
  }
};

// Returns the windows of a nest that is one reduction over them.
[[nodiscard]] std::optional<Windows> WindowsOf(NestContext& context);
void WriteWindows(NestContext& context, const Windows& windows);

}  // namespace pragma::expert
