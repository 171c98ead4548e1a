// Describes a fused attention for its generator. Private to anchored.cc.
#pragma once

#include <string>

#include "expert/cpp/anchor_kernel.h"
#include "expert/cpp/attention_kernel.h"
#include "expert/cpp/emit_expression.h"
#include "expert/ir/affine.h"
#include "expert/ir/program.h"

namespace pragma::expert {

// Returns the specification without its generated code (score and epilogue).
[[nodiscard]] AttentionSpec AttentionOf(const AttentionHint& form, const Shape& shape,
                                        const AffineForm& place);
// Returns the code that turns a vector of products into scores by scaling and masking it.
[[nodiscard]] std::string ScoreText(const Program& program, const AttentionHint& form,
                                    const OutputSite& site, Needs& needs);

}  // namespace pragma::expert
