// Check: one of the checks that a candidate went through, and what came of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/enum_names.h"

namespace pragma {

// kNote: neither passed nor failed, but worth knowing.
enum class CheckVerdict : std::uint8_t { kPass, kFail, kSkipped, kNote };
template <>
inline constexpr auto kEnumNames<CheckVerdict> =
    std::to_array<std::string_view>({"pass", "fail", "skipped", "note"});

struct Check {
  std::string name;  // "flags", "build", "values", "guards", "timed_outputs", ...
  CheckVerdict verdict = CheckVerdict::kNote;
  std::string detail;
};

}  // namespace pragma
