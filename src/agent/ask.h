// Ask: one question to a model, with precise re-asks while the reply is not usable.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/trial.h"
#include "llm/model.h"

namespace pragma {

struct Question {
  std::vector<Message> messages;
  Sampling sampling;
  CallKey key;  // role filled in; the ordinal counts from 0
  int max_reasks = 1;
};

// Looks at a reply: empty when it is usable, else the text of the re-ask.
using Judge = std::function<Result<std::string>(const Completion&)>;

// Asks until `judge` is content or the re-asks are used up; returns what all calls spent.
[[nodiscard]] Result<Spent> Ask(Model& model, Question question, const Judge& judge);

}  // namespace pragma
