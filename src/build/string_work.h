// Bytes that library calls and repeated string instructions move, where the number is a constant.
#pragma once

#include <cstdint>

#include "build/assembly.h"

namespace pragma {

// Returns these bytes for one entry of the block. Bytes that single string instructions move are
// not included.
[[nodiscard]] std::uint64_t KnownStringBytes(const Assembly& assembly, const Block& block);

}  // namespace pragma
