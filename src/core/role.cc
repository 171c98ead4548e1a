#include "core/role.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace pragma {

std::string_view RoleName(Role role) {
  constexpr std::array<std::string_view, 3> kNames{"seed", "improve", "repair"};
  return kNames.at(static_cast<std::size_t>(role));
}

}  // namespace pragma
