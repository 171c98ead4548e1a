// Wire: how a service protocol encodes a conversation and its reply. Untrusted text ends here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "llm/model.h"
#include "llm/quirks.h"

namespace pragma {

enum class Protocol : std::uint8_t {
  kOpenAi,     // POST <base>/chat/completions
  kAnthropic,  // POST <base>/v1/messages
  kResponses,  // POST <base>/responses, OpenAI's newer protocol
};

// ProtocolNames: what a protocol is called in model specs and in the environment.
struct ProtocolNames {
  std::string_view prefix;  // of a spec: "openai" in "openai:NAME"
  std::string_view key_variable;
  std::string_view url_variable;
  std::string_view public_url;
};
[[nodiscard]] const ProtocolNames& NamesOf(Protocol protocol);
// Returns the address that requests go to.
[[nodiscard]] std::string Endpoint(Protocol protocol, const std::string& base_url);

// WireRequest: what is asked of a service. It borrows its members.
struct WireRequest {
  const std::string& model;
  const std::vector<Message>& messages;
  const Sampling& sampling;
  const AskOptions& options;
  std::size_t stable_bytes = 0;  // so much of the first message is the same in later requests
};

[[nodiscard]] std::string RequestBody(Protocol protocol, const WireRequest& request,
                                      const Quirks& quirks);

// Parses the reply in the body of a 200 response. Reasoning fields and thinking blocks are kept
// apart from the text. Token counts are 0 where the service does not report them. kUnavailable: the
// body is not such a reply at all (worth a retry).
[[nodiscard]] Result<Completion> ParseReply(Protocol protocol, std::string_view body);

// Parses a reply that arrived as an event stream. kUnavailable: the stream ended before the reply.
[[nodiscard]] Result<Completion> ParseStream(Protocol protocol, std::string_view body);
// Returns the line of an event stream after which nothing of use follows. Some services keep the
// connection open beyond it.
[[nodiscard]] std::string_view StreamEnd(Protocol protocol);

// Returns what an error body says, on one line of at most 400 bytes.
[[nodiscard]] std::string ServiceComplaint(std::string_view body);

}  // namespace pragma
