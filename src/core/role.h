// Role: what the strategy asked for in an attempt.
#pragma once

#include <cstdint>
#include <string_view>

namespace pragma {

enum class Role : std::uint8_t { kSeed, kImprove, kRepair };
[[nodiscard]] std::string_view RoleName(Role role);  // "seed", "improve", "repair"

}  // namespace pragma
