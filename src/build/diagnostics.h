// The places that compilers' messages refer to.
#pragma once

#include <string_view>

namespace pragma {

// Returns whether a diagnostic's file is the candidate's own: "kernel.cpp", "kernel.cu".
[[nodiscard]] bool IsKernelSource(std::string_view file);

}  // namespace pragma
