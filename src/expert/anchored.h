// Anchored nests. An anchored nest is a product or convolution that the generator of its family
// writes, with the pointwise steps behind it as the epilogue.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "expert/anchor_kernel.h"
#include "expert/emit_expression.h"
#include "expert/nest.h"
#include "expert/program.h"
#include "expert/writer.h"

namespace pragma {

// Dimensions of a product's nest, which is [batch, row, column].
inline constexpr std::size_t kRow = 1;
inline constexpr std::size_t kColumn = 2;

// Returns a nest over these dimensions around `step`, or nullopt where no generator supports the
// step.
[[nodiscard]] std::optional<Nest> AnchorNest(const Program& program, const Step& step);
// Makes `step` part of the anchor's epilogue. Returns false where that is not possible.
[[nodiscard]] bool JoinAnchor(const Program& program, const Step& step, Nest& nest);

// Reserves the names that the generator's code uses around an epilogue, so that the epilogue does
// not define them again.
void ReserveNames(ExpressionWriter& values, const OutputSite& site);

struct AnchorText {
  std::string function;  // function to put before the kernel
  std::string call;      // statement inside the kernel; @scratch@ stands for the scratch memory
  std::string before;    // statement to run once before the iterations of a repeat, also with
                         // @scratch@; empty if nothing is needed
  std::set<VectorPiece> pieces;
};

[[nodiscard]] AnchorText EmitAnchor(const Program& program, const Nest& nest,
                                    const KernelTarget& target, const std::string& name,
                                    Needs& needs);

}  // namespace pragma
