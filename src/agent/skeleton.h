// SkeletonKernel: what a planner marks before there is a kernel: the function that is to be
// written.
#pragma once

#include <string>
#include <string_view>

#include "core/candidate.h"

namespace pragma {

// `interface`: what authors are shown of it: the text of kernel.h, whose declaration becomes a
// definition without a body, or (Triton) the definition itself.
[[nodiscard]] std::string SkeletonKernel(std::string_view interface, Language language);

}  // namespace pragma
