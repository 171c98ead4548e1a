// The processing that every model applies to a reply before returning it, and the JSON text that
// records keep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/model.h"

namespace pragma {

struct SeparatedReply {
  std::string text;
  std::string reasoning;
  bool open = false;  // a block never ends
};

// Takes <think> and <thinking> blocks out of a reply. A block that never ends extends to the end of
// the reply. A closing tag without an opening one makes everything in front of it reasoning,
// because some servers put the opening tag into the prompt. In a fenced block, a tag counts only at
// the beginning of a line.
[[nodiscard]] SeparatedReply SeparateReasoning(std::string_view reply);

// Moves reasoning out of the text, makes the text valid UTF-8, estimates tokens that the service
// did not count (four bytes per token) and computes the cost.
void FinishCompletion(Completion& completion, const std::vector<Message>& messages,
                      const Price& price);

// {"text","reasoning","model","tokens_in","tokens_out","tokens_estimated","usd","seconds","truncated"},
// and where they are not empty
// {"tokens_cached","tokens_written","usd_saved","thinking_open","problem"}
[[nodiscard]] std::string CompletionToJson(const Completion& completion);
// Reads that JSON. Unknown keys are ignored and missing ones keep their defaults. Only "text" is
// required.
[[nodiscard]] Result<Completion> CompletionFromJson(std::string_view json);
// [{"role","text"}, ...]
[[nodiscard]] std::string MessagesToJson(const std::vector<Message>& messages);
[[nodiscard]] Result<std::vector<Message>> MessagesFromJson(std::string_view json);

// Returns the conversation as one text, for programs and people that get a single prompt.
[[nodiscard]] std::string MessagesAsText(const std::vector<Message>& messages);

}  // namespace pragma
