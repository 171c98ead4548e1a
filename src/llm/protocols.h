// The protocols behind wire.h, one file each. Private to this folder. Reply functions take the body
// of a response, stream functions the data of its events in order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/model.h"
#include "llm/wire.h"

namespace pragma {

[[nodiscard]] std::string OpenAiBody(const WireRequest& request, const Quirks& quirks);
[[nodiscard]] Result<Completion> OpenAiReply(std::string_view body);
[[nodiscard]] Result<Completion> OpenAiStream(const std::vector<std::string>& events);

[[nodiscard]] std::string AnthropicBody(const WireRequest& request, const Quirks& quirks);
[[nodiscard]] Result<Completion> AnthropicReply(std::string_view body);
[[nodiscard]] Result<Completion> AnthropicStream(const std::vector<std::string>& events);

[[nodiscard]] std::string ResponsesBody(const WireRequest& request, const Quirks& quirks);
[[nodiscard]] Result<Completion> ResponsesReply(std::string_view body);
[[nodiscard]] Result<Completion> ResponsesStream(const std::vector<std::string>& events);

// What the three have in common.

// Returns the messages without system messages: their text is put in front of the first other
// message.
[[nodiscard]] std::vector<Message> WithSystemFolded(const std::vector<Message>& messages);
// Returns the text of a call of a tool, so that code in its arguments is not lost: each long text
// argument as a fenced block. `arguments` is a JSON object.
[[nodiscard]] std::string ToolCallAsText(std::string_view arguments);
// Sets `completion.problem` if there is no text to use. `finish`: the service's word for why the
// reply ended. `tool`: a tool that the reply calls; empty: none.
void ExplainMissingText(Completion& completion, const std::string& finish, const std::string& tool);
// Fails if an event says that the service failed in the middle of its reply.
[[nodiscard]] Result<void> CheckEvent(std::string_view event);
[[nodiscard]] std::unexpected<Error> CutStream();

}  // namespace pragma
