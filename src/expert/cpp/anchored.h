// Writes an anchored nest (plan/anchor_nests.h) as C++.
#pragma once

#include <string>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/emit_expression.h"
#include "expert/cpp/writer.h"
#include "expert/ir/program.h"
#include "expert/plan/nest.h"

namespace pragma::expert {

// Reserves the names that the generator's code uses around an epilogue, so that the epilogue does
// not define them again.
void ReserveNames(ExpressionWriter& values, const OutputSite& site);

struct AnchorText {
  std::string function;  // function to put before the kernel
  std::string call;    // statement inside the kernel; @scratch@ stands for the scratch memory, and
                       // @packed@ for a weight that is packed before
  std::string before;  // statement to run once before the iterations of a repeat or the slices,
                       // also with these; empty if nothing is needed
  std::string name = "";  // the namespace of its code
};

// How an anchor is to be written.
struct AnchorOrder {
  const KernelTarget& target;
  const std::string& name;  // the namespace of its code
  const Tuning& tuning;
};

[[nodiscard]] AnchorText EmitAnchor(const Program& program, const Nest& nest,
                                    const AnchorOrder& order, Needs& needs);

}  // namespace pragma::expert
