// A nest as C++: its outer loops, shared out to threads, and the passes inside them.
#pragma once

#include "expert/cpp/emit_expression.h"
#include "expert/cpp/writer.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"
#include "expert/plan/nest_choices.h"

namespace pragma::expert {

void EmitNest(const Program& program, const Nest& nest, const NestChoices& choices, Needs& needs,
              Writer& out);

}  // namespace pragma::expert
