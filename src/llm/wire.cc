#include "llm/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "core/json_dump.h"
#include "llm/model.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kComplaintBytes = 400;
constexpr int kErrorDepth = 4;  // deepest nesting of error objects

// Returns the member, or null when `value` is not an object or has no such member.
const Json& At(const Json& value, const char* key) {
  static const Json kNull;
  if (!value.is_object()) return kNull;
  const auto found = value.find(key);
  return found == value.end() ? kNull : *found;
}

std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

std::int64_t Count(const Json& value) {
  if (!value.is_number()) return 0;
  const double count = value.get<double>();
  return count > 0 && count < 1e15 ? static_cast<std::int64_t>(count) : 0;
}

// Returns the text of a string, or of a list of parts. Parts of type `type` have their text under
// `key`.
std::string Content(const Json& content, std::string_view type, const char* key) {
  if (content.is_string()) return type == "text" ? content.get<std::string>() : "";
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content) {
    if (Text(At(part, "type")) == type) text += Text(At(part, key));
  }
  return text;
}

std::string OpenAiBody(const std::string& model, const std::vector<Message>& messages,
                       const Sampling& sampling, const Quirks& quirks) {
  Json list = Json::array();
  for (const Message& message : messages) {
    list.push_back(Json{{"role", message.role}, {"content", message.text}});
  }
  Json body{{"model", model}, {"messages", std::move(list)}, {"stream", false}};
  body[quirks.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] = sampling.max_tokens;
  if (!quirks.no_temperature) body["temperature"] = sampling.temperature;
  return Dump(body);
}

std::string AnthropicBody(const std::string& model, const std::vector<Message>& messages,
                          const Sampling& sampling, const Quirks& quirks) {
  Json list = Json::array();
  std::string system;
  for (const Message& message : messages) {
    if (message.role == "system") {
      system += (system.empty() ? "" : "\n\n") + message.text;
    } else {
      list.push_back(Json{{"role", message.role}, {"content", message.text}});
    }
  }
  Json body{{"model", model}, {"messages", std::move(list)}, {"max_tokens", sampling.max_tokens}};
  if (!system.empty()) body["system"] = system;
  if (!quirks.no_temperature) body["temperature"] = std::clamp(sampling.temperature, 0.0, 1.0);
  return Dump(body);
}

Result<Completion> OpenAiReply(const Json& body) {
  const Json& choices = At(body, "choices");
  if (!choices.is_array() || choices.empty()) {
    return Fail(ErrorKind::kUnavailable, "the reply has no \"choices\"");
  }
  const Json& choice = choices.front();
  const Json& message = At(choice, "message");
  if (!message.is_object()) {
    return Fail(ErrorKind::kUnavailable, "the reply's choice has no \"message\"");
  }
  Completion completion;
  completion.text = Content(At(message, "content"), "text", "text");
  if (completion.text.empty()) completion.text = Text(At(message, "refusal"));
  completion.reasoning = Text(At(message, "reasoning_content"));
  if (completion.reasoning.empty()) completion.reasoning = Text(At(message, "reasoning"));
  if (completion.reasoning.empty()) {
    completion.reasoning = Content(At(message, "content"), "thinking", "thinking");
  }
  completion.model = Text(At(body, "model"));
  completion.tokens_in = Count(At(At(body, "usage"), "prompt_tokens"));
  completion.tokens_out = Count(At(At(body, "usage"), "completion_tokens"));
  completion.truncated = Text(At(choice, "finish_reason")) == "length";
  return completion;
}

Result<Completion> AnthropicReply(const Json& body) {
  const Json& content = At(body, "content");
  if (!content.is_array()) return Fail(ErrorKind::kUnavailable, "the reply has no \"content\"");
  Completion completion;
  completion.text = Content(content, "text", "text");
  completion.reasoning = Content(content, "thinking", "thinking");
  completion.model = Text(At(body, "model"));
  const Json& usage = At(body, "usage");
  completion.tokens_in = Count(At(usage, "input_tokens")) +
                         Count(At(usage, "cache_creation_input_tokens")) +
                         Count(At(usage, "cache_read_input_tokens"));
  completion.tokens_out = Count(At(usage, "output_tokens"));
  completion.truncated = Text(At(body, "stop_reason")) == "max_tokens";
  return completion;
}

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

}  // namespace

std::string RequestBody(Protocol protocol, const std::string& model,
                        const std::vector<Message>& messages, const Sampling& sampling,
                        const Quirks& quirks) {
  switch (protocol) {
    case Protocol::kOpenAi: return OpenAiBody(model, messages, sampling, quirks);
    case Protocol::kAnthropic: return AnthropicBody(model, messages, sampling, quirks);
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
    case Protocol::kOpenAi: return OpenAiReply(json);
    case Protocol::kAnthropic: return AnthropicReply(json);
  }
  return Fail("no such protocol");
}

std::string ServiceComplaint(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  std::string text = json.is_discarded() ? "" : ErrorText(json, kErrorDepth);
  if (text.empty()) text = body.substr(0, 4 * kComplaintBytes);
  return OneLine(ToValidUtf8(text));
}

bool LearnQuirk(std::string_view complaint, Quirks& quirks) {
  const auto says = [&](std::string_view word) {
    return complaint.find(word) != std::string_view::npos;
  };
  if (!quirks.max_completion_tokens && says("max_tokens") && says("max_completion_tokens")) {
    quirks.max_completion_tokens = true;
    return true;
  }
  if (!quirks.no_temperature && says("temperature")) {
    quirks.no_temperature = true;
    return true;
  }
  return false;
}

}  // namespace pragma
