// The flags of each compiler that a candidate may use (flags.cc, cuda_flags.cc).
#pragma once

#include <span>
#include <string_view>

namespace pragma {

[[nodiscard]] std::span<const std::string_view> CudaFlags();

}  // namespace pragma
