// Bytes moved by library calls and repeated string instructions, where their number is a constant.
#pragma once

#include <cstdint>

#include "build/assembly.h"

namespace pragma {

// Of the block, entered once. What single string instructions move is not in it.
[[nodiscard]] std::uint64_t KnownStringBytes(const Assembly& assembly, const Block& block);

}  // namespace pragma
