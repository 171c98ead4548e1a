// The planner's answer: one suggestion in prose, then the whole source with the block marked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/advice.h"

namespace pragma {

struct PlanReply {
  std::optional<Advice> advice;  // base kCurrent, change, anchored
  std::string problem;           // what is wrong with the answer
};
// `truncated`: the service said that the reply was cut off.
[[nodiscard]] PlanReply ParsePlanReply(std::string_view reply, bool truncated);

}  // namespace pragma
