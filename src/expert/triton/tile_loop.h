// A pass as a loop over tiles of a row, or over single taps of a window.
#pragma once

#include "expert/plan/nest.h"
#include "expert/triton/py_lines.h"
#include "expert/triton/tile_context.h"

namespace pragma::expert::triton {

void WriteTileLoop(TileContext& context, const Phase& phase);
// Writes the loop around a body, behind the lines that come before it.
void EmitTileLoop(TileContext& context, const PyLines& before, const PyLines& body);

}  // namespace pragma::expert::triton
