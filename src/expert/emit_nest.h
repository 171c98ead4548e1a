// A nest as C++: its outer loops, shared out to threads, and the passes inside them.
#pragma once

#include <string>

#include "expert/emit_expression.h"
#include "expert/nest.h"
#include "expert/program.h"
#include "expert/writer.h"

namespace pragma {

void EmitNest(const Program& program, const Nest& nest, Needs& needs, Writer& out);

}  // namespace pragma
