#include "llm/wire.h"

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "llm/json_fields.h"
#include "llm/model.h"
#include "llm/protocols.h"
#include "llm/quirks.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kComplaintBytes = 400;
constexpr int kErrorDepth = 4;  // deepest nesting of error objects

constexpr ProtocolNames kOpenAi{.prefix = "openai",
                                .key_variable = "OPENAI_API_KEY",
                                .url_variable = "OPENAI_BASE_URL",
                                .public_url = "https://api.openai.com/v1"};
constexpr ProtocolNames kAnthropic{.prefix = "anthropic",
                                   .key_variable = "ANTHROPIC_API_KEY",
                                   .url_variable = "ANTHROPIC_BASE_URL",
                                   .public_url = "https://api.anthropic.com"};
constexpr ProtocolNames kResponses{.prefix = "responses",
                                   .key_variable = kOpenAi.key_variable,
                                   .url_variable = kOpenAi.url_variable,
                                   .public_url = kOpenAi.public_url};

// Returns the message inside {"error": {"message": …}}, {"error": "…"}, {"detail": "…"} and the
// like.
std::string ErrorText(const Json& body, int depth) {
  if (body.is_string()) return body.get<std::string>();
  if (body.is_array() && !body.empty() && depth > 0) return ErrorText(body.front(), depth - 1);
  for (const char* key : {"error", "message", "detail", "msg"}) {
    const Json& inner = At(body, key);
    if (inner.is_null() || depth == 0) continue;
    std::string text = ErrorText(inner, depth - 1);
    if (!text.empty()) return text;
  }
  return {};
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  std::string line(Trim(text));
  if (line.size() > kComplaintBytes) {
    line = ToValidUtf8(line.substr(0, kComplaintBytes)) + "…";
  }
  return line;
}

// Returns the data of each event of a stream. Comments and other fields carry nothing of use.
std::vector<std::string> EventData(std::string_view body) {
  std::vector<std::string> events;
  std::string data;
  for (const std::string& whole : SplitLines(body)) {
    std::string_view line = whole;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("data:")) {
      line.remove_prefix(line.starts_with("data: ") ? 6 : 5);
      data += (data.empty() ? "" : "\n") + std::string(line);
    } else if (line.empty() && !data.empty()) {
      events.push_back(std::exchange(data, {}));
    }
  }
  if (!data.empty()) events.push_back(std::move(data));
  return events;
}

}  // namespace

const ProtocolNames& NamesOf(Protocol protocol) {
  switch (protocol) {
    case Protocol::kOpenAi: return kOpenAi;
    case Protocol::kAnthropic: return kAnthropic;
    case Protocol::kResponses: return kResponses;
  }
  return kOpenAi;
}

std::string Endpoint(Protocol protocol, const std::string& base_url) {
  switch (protocol) {
    case Protocol::kOpenAi: return base_url + "/chat/completions";
    case Protocol::kAnthropic:
      return base_url + (base_url.ends_with("/v1") ? "/messages" : "/v1/messages");
    case Protocol::kResponses: return base_url + "/responses";
  }
  return {};
}

std::string RequestBody(Protocol protocol, const WireRequest& request, const Quirks& quirks) {
  switch (protocol) {
    case Protocol::kOpenAi: return OpenAiBody(request, quirks);
    case Protocol::kAnthropic: return AnthropicBody(request, quirks);
    case Protocol::kResponses: return ResponsesBody(request, quirks);
  }
  return {};
}

Result<Completion> ParseReply(Protocol protocol, std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  if (json.is_discarded()) {
    return Fail(ErrorKind::kUnavailable, fmt::format("the reply is not JSON (\"{}\")",
                                                     OneLine(ToValidUtf8(body.substr(0, 60)))));
  }
  // Routers answer 200 and put the error into the body.
  if (!At(json, "error").is_null()) {
    return Fail(ErrorKind::kUnavailable, "the reply is an error: " + ServiceComplaint(body));
  }
  switch (protocol) {
    case Protocol::kOpenAi: return OpenAiReply(body);
    case Protocol::kAnthropic: return AnthropicReply(body);
    case Protocol::kResponses: return ResponsesReply(body);
  }
  return Fail("no such protocol");
}

Result<Completion> ParseStream(Protocol protocol, std::string_view body) {
  const std::vector<std::string> events = EventData(body);
  switch (protocol) {
    case Protocol::kOpenAi: return OpenAiStream(events);
    case Protocol::kAnthropic: return AnthropicStream(events);
    case Protocol::kResponses: return ResponsesStream(events);
  }
  return Fail("no such protocol");
}

std::string_view StreamEnd(Protocol protocol) {
  switch (protocol) {
    case Protocol::kOpenAi: return "data: [DONE]";
    case Protocol::kAnthropic: return R"(data: {"type":"message_stop"})";
    case Protocol::kResponses: return "";  // the last event is long; the service closes after it
  }
  return "";
}

std::string ServiceComplaint(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  std::string text = json.is_discarded() ? "" : ErrorText(json, kErrorDepth);
  if (text.empty()) text = body.substr(0, 4 * kComplaintBytes);
  return OneLine(ToValidUtf8(text));
}

}  // namespace pragma
