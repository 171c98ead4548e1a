// Ask: puts one question to a model, and asks again with a precise complaint while the reply is
// unusable.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/spent.h"
#include "llm/model.h"

namespace pragma {

struct Question {
  std::vector<Message> messages;
  Sampling sampling;
  CallKey key;  // role is filled in; the ordinal counts from 0
  int max_reasks = 1;
  // Returns the messages in at most so many bytes, or as short as they can be. It is asked when the
  // model takes only shorter prompts. Empty: they cannot be shortened.
  std::function<Result<std::vector<Message>>(std::size_t)> shorten;
};

// Examines a reply. Returns an empty string if the reply is usable or another one would be no
// better, otherwise the text of the re-ask.
using Judge = std::function<Result<std::string>(const Completion&)>;

// Asks until `judge` accepts a reply or the re-asks are used up. Returns what all calls together
// spent.
[[nodiscard]] Result<Spent> Ask(Model& model, Question question, const Judge& judge);

}  // namespace pragma
