// PlanReply: the planner's answer, which is one suggestion in prose and then the whole source with
// the block to change marked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/advice.h"

namespace pragma {

// Limit, in bytes, on the prose that is kept of an answer.
inline constexpr std::size_t kProseBytes = 4000;

struct PlanReply {
  std::optional<Advice> advice;  // has base kCurrent, change and anchored
  std::string problem;           // what is wrong with the answer
};
// `truncated` means that the service reported the reply as cut off.
[[nodiscard]] PlanReply ParsePlanReply(std::string_view reply, bool truncated);

}  // namespace pragma
