// Wire: how a service protocol encodes a conversation and its reply. Untrusted text ends here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/model.h"

namespace pragma {

enum class Protocol : std::uint8_t {
  kOpenAi,     // POST <base>/chat/completions
  kAnthropic,  // POST <base>/v1/messages
};

// Quirks: settings that a service turned out not to accept. They are learnt from its refusals and
// kept for later calls.
struct Quirks {
  bool max_completion_tokens = false;  // send max_completion_tokens instead of max_tokens
  bool no_temperature = false;         // send no temperature
};

[[nodiscard]] std::string RequestBody(Protocol protocol, const std::string& model,
                                      const std::vector<Message>& messages,
                                      const Sampling& sampling, const Quirks& quirks);

// Parses the reply in the body of a 200 response. Reasoning fields and thinking blocks are kept
// apart from the text. Token counts are 0 where the service does not report them. kUnavailable: the
// body is not such a reply at all (worth a retry).
[[nodiscard]] Result<Completion> ParseReply(Protocol protocol, std::string_view body);

// Returns what an error body says, on one line of at most 400 bytes.
[[nodiscard]] std::string ServiceComplaint(std::string_view body);

// Returns whether the message of a 400 response is about something that `quirks` can avoid. Updates
// `quirks` in that case.
[[nodiscard]] bool LearnQuirk(std::string_view complaint, Quirks& quirks);

}  // namespace pragma
