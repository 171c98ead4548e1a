// Anchored nests: a product or convolution that a generator of its family writes, with the
// pointwise steps behind it as its epilogue.
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

// Dimensions of a product's nest, [batch, row, column].
inline constexpr std::size_t kRow = 1;
inline constexpr std::size_t kColumn = 2;

// A nest over them around this step; none where no generator takes it.
[[nodiscard]] std::optional<Nest> AnchorNest(const Program& program, const Step& step);
// Makes a step the anchor's epilogue; false where it cannot be.
[[nodiscard]] bool JoinAnchor(const Program& program, const Step& step, Nest& nest);

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

}  // namespace pragma
