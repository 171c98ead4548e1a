// SkeletonKernel: the function that is to be written, with an empty body. A planner marks it while
// there is no kernel yet.
#pragma once

#include <string>
#include <string_view>

#include "core/candidate.h"

namespace pragma {

// `interface` is what authors are shown of it. In C++ and CUDA it is the text of kernel.h, whose
// declaration becomes a definition without a body. In Triton it is the definition itself.
[[nodiscard]] std::string SkeletonKernel(std::string_view interface, Language language);

}  // namespace pragma
