// What a fused attention is for its generator. Private to anchored.cc.
#pragma once

#include <string>

#include "expert/affine.h"
#include "expert/anchor_kernel.h"
#include "expert/attention_kernel.h"
#include "expert/emit_expression.h"
#include "expert/program.h"

namespace pragma {

// [batch, row, column], and where the results go.
struct AttentionPlace {
  Shape shape;
  AffineForm form;
};
[[nodiscard]] AttentionPlace PlaceOf(const Step& step);
// Without its texts.
[[nodiscard]] AttentionSpec AttentionOf(const AttentionHint& form, const Shape& shape,
                                        const AffineForm& place);
// A vector of products becomes scores: scaled, masked.
[[nodiscard]] std::string ScoreText(const Program& program, const AttentionHint& form,
                                    const OutputSite& site, Needs& needs);

}  // namespace pragma
