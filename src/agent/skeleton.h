// SkeletonKernel: what a planner marks before there is a kernel: the function that is to be
// written.
#pragma once

#include <string>
#include <string_view>

namespace pragma {

// `kernel_header`: the text of kernel.h, whose declaration of pragma_kernel becomes a definition
// without a body.
[[nodiscard]] std::string SkeletonKernel(std::string_view kernel_header);

}  // namespace pragma
