// Writes routines (ir/program.h) as C++: sorting, searching, running extremes and scattered writes.
#pragma once

#include <string>

#include "expert/cpp/anchored.h"
#include "expert/cpp/emit_expression.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

[[nodiscard]] AnchorText EmitRoutine(const Program& program, const Nest& nest,
                                     const AnchorOrder& order, Needs& needs);

}  // namespace pragma::expert
