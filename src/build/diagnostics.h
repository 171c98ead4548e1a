// Where compilers' messages point to.
#pragma once

#include <string_view>

namespace pragma {

// Whether a diagnostic's file is the candidate's own: "kernel.cpp", "kernel.cu".
[[nodiscard]] bool IsKernelSource(std::string_view file);

}  // namespace pragma
