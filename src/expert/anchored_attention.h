// Describes a fused attention for its generator. Private to anchored.cc.
#pragma once

#include <string>

#include "expert/affine.h"
#include "expert/anchor_kernel.h"
#include "expert/attention_kernel.h"
#include "expert/emit_expression.h"
#include "expert/program.h"

namespace pragma {

// The shape [batch, row, column] of the results, and where they are stored.
struct AttentionPlace {
  Shape shape;
  AffineForm form;
};
[[nodiscard]] AttentionPlace PlaceOf(const Step& step);
// Returns the specification without its generated code (score and epilogue).
[[nodiscard]] AttentionSpec AttentionOf(const AttentionHint& form, const Shape& shape,
                                        const AffineForm& place);
// Returns the code that turns a vector of products into scores by scaling and masking it.
[[nodiscard]] std::string ScoreText(const Program& program, const AttentionHint& form,
                                    const OutputSite& site, Needs& needs);

}  // namespace pragma
