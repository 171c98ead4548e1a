#include "expert/triton/kernel_scope.h"

#include <cstddef>
#include <cstdint>

#include "expert/ir/affine.h"
#include "expert/ir/expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/triton/tile_values.h"

namespace pragma::expert::triton {

Names NamesFor(const Program& program) {
  Names names;
  for (const Buffer& buffer : program.buffers) (void)names.New(buffer.name);
  for (const char* taken : {"row", "column", "tap", "at", "inside", "row_inside", "column_inside",
                            "start", "tl", "libdevice", "triton", "torch", "range"})
    (void)names.New(taken);
  return names;
}

bool NeedsWideIndex(std::int64_t elements) {
  return elements > (std::int64_t{1} << 31) - (std::int64_t{1} << 20);
}

bool NeedsWideIndex(const Program& program, const Nest& nest) {
  bool wide = false;
  const auto look = [&](int buffer) {
    wide =
        wide || NeedsWideIndex(Elements(program.buffers[static_cast<std::size_t>(buffer)].shape));
  };
  for (const Step& step : nest.steps) {
    look(step.buffer);
    VisitLoads(step.expr, [&](const Load& load, ExprType) { look(load.buffer); });
  }
  return wide || NeedsWideIndex(nest.OuterCount());
}

}  // namespace pragma::expert::triton
