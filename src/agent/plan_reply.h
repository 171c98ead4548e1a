// The planner's answer: one suggestion in prose, then the whole source with the block marked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/advice.h"

namespace pragma {

// Of an answer's prose, so many bytes are kept.
inline constexpr std::size_t kProseBytes = 4000;

struct PlanReply {
  std::optional<Advice> advice;  // base kCurrent, change, anchored
  std::string problem;           // what is wrong with the answer
};
// `truncated`: the service said that the reply was cut off.
[[nodiscard]] PlanReply ParsePlanReply(std::string_view reply, bool truncated);

}  // namespace pragma
