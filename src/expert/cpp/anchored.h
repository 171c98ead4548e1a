// Anchored nests: a product or convolution that a generator of its family writes, with the
// pointwise steps behind it as its epilogue.
#pragma once

#include <set>
#include <string>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/emit_expression.h"
#include "expert/plan/nest.h"
#include "expert/ir/program.h"
#include "expert/cpp/writer.h"

namespace pragma::expert {

// Keeps names that the generator's text has round an epilogue from what the epilogue names.
void ReserveNames(ExpressionWriter& values, const OutputSite& site);

struct AnchorText {
  std::string function;  // before the kernel
  std::string call;      // inside it; @scratch@ stands for the scratch memory
  std::string before;    // the same, once before a repeat's turns; empty: nothing is needed
  std::set<VectorPiece> pieces;
};

[[nodiscard]] AnchorText EmitAnchor(const Program& program, const Nest& nest,
                                    const KernelTarget& target, const std::string& name,
                                    Needs& needs);

}  // namespace pragma::expert
