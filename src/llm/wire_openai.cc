// OpenAI's chat completions, the protocol of most services and of nearly all local servers.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/json_dump.h"
#include "llm/json_fields.h"
#include "llm/model.h"
#include "llm/protocols.h"
#include "llm/quirks.h"
#include "llm/wire.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostToolCalls = 64;

void AddUsage(Completion& completion, const Json& usage) {
  completion.tokens_in = CountOf(At(usage, "prompt_tokens"));
  completion.tokens_out = CountOf(At(usage, "completion_tokens"));
  completion.tokens_cached = CountOf(At(At(usage, "prompt_tokens_details"), "cached_tokens"));
  if (completion.tokens_cached == 0)  // DeepSeek
    completion.tokens_cached = CountOf(At(usage, "prompt_cache_hit_tokens"));
}

Result<Completion> FromChat(const Json& body) {
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
  completion.text = PartsOf(At(message, "content"), "text", "text");
  if (completion.text.empty()) completion.text = TextOf(At(message, "refusal"));
  completion.reasoning = TextOf(At(message, "reasoning_content"));
  if (completion.reasoning.empty()) completion.reasoning = TextOf(At(message, "reasoning"));
  if (completion.reasoning.empty()) {
    completion.reasoning = PartsOf(At(message, "content"), "thinking", "thinking");
  }
  completion.model = TextOf(At(body, "model"));
  AddUsage(completion, At(body, "usage"));
  const std::string finish = TextOf(At(choice, "finish_reason"));
  completion.truncated = finish == "length";
  std::string tool;
  const Json& calls = At(message, "tool_calls");
  for (std::size_t i = 0; calls.is_array() && i < calls.size(); ++i) {
    const Json& called = At(calls[i], "function");
    tool = TextOf(At(called, "name"));
    completion.text += ToolCallAsText(TextOf(At(called, "arguments")));
  }
  ExplainMissingText(completion, finish, tool);
  return completion;
}

// Adds what one event says of the message.
void AddDelta(Json& message, const Json& delta) {
  for (const char* key : {"content", "refusal", "reasoning_content", "reasoning"})
    AppendText(message, delta, key);
  const Json& calls = At(delta, "tool_calls");
  for (std::size_t i = 0; calls.is_array() && i < calls.size(); ++i) {
    const auto index = static_cast<std::size_t>(CountOf(At(calls[i], "index")));
    if (index >= kMostToolCalls) continue;
    Json& called = message["tool_calls"][index]["function"];
    for (const char* key : {"name", "arguments"}) AppendText(called, At(calls[i], "function"), key);
  }
}

}  // namespace

std::string OpenAiBody(const WireRequest& request, const Quirks& quirks) {
  const AskOptions& options = request.options;
  Json list = Json::array();
  for (const Message& message :
       quirks.no_system ? WithSystemFolded(request.messages) : request.messages) {
    list.push_back(Json{{"role", message.role}, {"content", message.text}});
  }
  const bool stream = quirks.stream.value_or(options.stream);
  Json body{{"model", request.model}, {"messages", std::move(list)}, {"stream", stream}};
  if (stream) body["stream_options"] = {{"include_usage", true}};
  body[quirks.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] =
      request.sampling.max_tokens;
  body["temperature"] = request.sampling.temperature;
  if (options.top_p) body["top_p"] = *options.top_p;
  if (!options.reasoning_effort.empty()) body["reasoning_effort"] = options.reasoning_effort;
  for (const std::string& member : quirks.refused) body.erase(member);
  return Dump(body);
}

Result<Completion> OpenAiReply(std::string_view body) {
  return FromChat(Json::parse(body, nullptr, false));
}

// The events hold pieces of the message. The last ones hold the reason for the end and the usage.
Result<Completion> OpenAiStream(const std::vector<std::string>& events) {
  Json body{{"model", nullptr}};
  Json message = Json::object();
  Json finish;
  for (const std::string& event : events) {
    TRY(CheckEvent(event));
    const Json chunk = Json::parse(event, nullptr, false);
    if (!At(chunk, "model").is_null()) body["model"] = At(chunk, "model");
    if (At(chunk, "usage").is_object()) body["usage"] = At(chunk, "usage");
    const Json& choices = At(chunk, "choices");
    if (!choices.is_array() || choices.empty()) continue;
    AddDelta(message, At(choices.front(), "delta"));
    if (!At(choices.front(), "message").is_null())  // some services send all of it at the end
      Merge(message, At(choices.front(), "message"));
    if (!At(choices.front(), "finish_reason").is_null())
      finish = At(choices.front(), "finish_reason");
  }
  const bool ended = !events.empty() && events.back() == "[DONE]";
  if (finish.is_null() && !ended) return CutStream();
  body["choices"] = Json::array({Json{{"message", message}, {"finish_reason", finish}}});
  return FromChat(body);
}

}  // namespace pragma
