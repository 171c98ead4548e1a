// StopReason: why a run, or a row of a benchmark, ended.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/enum_names.h"

namespace pragma {

enum class StopReason : std::uint8_t {
  kNone,  // it has not ended
  kBudget,
  kRoofline,  // the best is as fast as the machine allows
  kStall,
  kAdvice,  // the Conductor saw nothing more to do
  kInterrupted,
  kJudged,     // a solution that was given was judged
  kNoneGiven,  // there was no solution to judge
  kService,    // the model could not be asked any longer
  kNoCode,     // several attempts in a row ended without code
};
template <>
inline constexpr auto kEnumNames<StopReason> =
    std::to_array<std::string_view>({"", "budget", "roofline", "stall", "advice", "interrupted",
                                     "judged", "none given", "service", "no code"});

}  // namespace pragma
