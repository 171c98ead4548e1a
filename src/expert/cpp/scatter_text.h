// Writes a scatter, a routine (ir/program.h) that stores to places that depend on data, as C++.
#pragma once

#include "expert/cpp/anchored.h"
#include "expert/cpp/emit_expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

[[nodiscard]] AnchorText EmitScatter(const Program& program, const Nest& nest,
                                     const AnchorOrder& order, Needs& needs);

}  // namespace pragma::expert
