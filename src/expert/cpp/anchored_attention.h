// What a fused attention is for its generator. Private to anchored.cc.
#pragma once

#include <string>

#include "expert/ir/affine.h"
#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/attention_kernel.h"
#include "expert/cpp/emit_expression.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// Without its texts.
[[nodiscard]] AttentionSpec AttentionOf(const AttentionHint& form, const Shape& shape,
                                        const AffineForm& place);
// A vector of products becomes scores: scaled, masked.
[[nodiscard]] std::string ScoreText(const Program& program, const AttentionHint& form,
                                    const OutputSite& site, Needs& needs);

}  // namespace pragma::expert
