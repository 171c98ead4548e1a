// Wire: how a service protocol writes a conversation and its reply. Foreign text ends here.
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

// What a service turned out not to accept; learnt from its refusals, kept for later calls.
struct Quirks {
  bool max_completion_tokens = false;  // instead of max_tokens
  bool no_temperature = false;         // refuses to be told one
};

[[nodiscard]] std::string RequestBody(Protocol protocol, const std::string& model,
                                      const std::vector<Message>& messages,
                                      const Sampling& sampling, const Quirks& quirks);

// The reply in a 200 body. Reasoning fields and thinking blocks are kept apart from the text;
// tokens are 0 where the service does not count. kUnavailable: not such a reply at all (worth a
// retry).
[[nodiscard]] Result<Completion> ParseReply(Protocol protocol, std::string_view body);

// What an error body says, on one line of at most 400 bytes.
[[nodiscard]] std::string ServiceComplaint(std::string_view body);

// Whether the complaint of a 400 is about something that `quirks` can avoid; changes it then.
[[nodiscard]] bool LearnQuirk(std::string_view complaint, Quirks& quirks);

}  // namespace pragma
