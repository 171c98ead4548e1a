// Tiles of a nest in which a load is contiguous along another dimension than the stores, as in a
// transpose. Cache lines are read once and transposed in registers.
#pragma once

#include <cstddef>
#include <optional>

#include "expert/cpp/nest_context.h"
#include "expert/ir/expression.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

struct Turned {
  const Load* load = nullptr;
  std::size_t other = 0;  // the dimension along which the load is contiguous
};

[[nodiscard]] std::optional<Turned> TurnedLoad(const NestContext& context);
void WriteTurnedTiles(NestContext& context, const Turned& turned);

}  // namespace pragma::expert
