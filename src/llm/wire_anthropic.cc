// Anthropic's messages.
#include <algorithm>
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

constexpr std::size_t kMostBlocks = 256;

// Returns the message in two blocks. The service is asked to cache the prompt up to the end of the
// first one.
Json Cached(const std::string& text, std::size_t stable_bytes) {
  return Json::array({{{"type", "text"},
                       {"text", text.substr(0, stable_bytes)},
                       {"cache_control", {{"type", "ephemeral"}}}},
                      {{"type", "text"}, {"text", text.substr(stable_bytes)}}});
}

Json Conversation(const std::vector<Message>& messages, std::size_t stable_bytes,
                  std::string& system) {
  Json list = Json::array();
  for (const Message& message : messages) {
    if (message.role == "system") {
      system += (system.empty() ? "" : "\n\n") + message.text;
      continue;
    }
    const bool split = list.empty() && stable_bytes > 0 && stable_bytes < message.text.size();
    list.push_back(
        Json{{"role", message.role},
             {"content", split ? Cached(message.text, stable_bytes) : Json(message.text)}});
  }
  return list;
}

// A thinking budget belongs to the reply's limit, and the protocol allows no temperature beside it.
void AddThinking(Json& body, const AskOptions& options, std::int64_t max_tokens) {
  if (!options.reasoning_effort.empty())
    body["output_config"] = {{"effort", options.reasoning_effort}};
  if (options.thinking_tokens <= 0) return;
  body["thinking"] = {{"type", "enabled"},
                      {"budget_tokens", std::min(options.thinking_tokens, max_tokens - 1)}};
  body.erase("temperature");
}

Result<Completion> FromMessages(const Json& body) {
  const Json& content = At(body, "content");
  if (!content.is_array()) return Fail(ErrorKind::kUnavailable, "the reply has no \"content\"");
  Completion completion;
  completion.text = PartsOf(content, "text", "text");
  completion.reasoning = PartsOf(content, "thinking", "thinking");
  completion.model = TextOf(At(body, "model"));
  const Json& usage = At(body, "usage");
  completion.tokens_cached = CountOf(At(usage, "cache_read_input_tokens"));
  completion.tokens_written = CountOf(At(usage, "cache_creation_input_tokens"));
  completion.tokens_in =
      CountOf(At(usage, "input_tokens")) + completion.tokens_cached + completion.tokens_written;
  completion.tokens_out = CountOf(At(usage, "output_tokens"));
  const std::string finish = TextOf(At(body, "stop_reason"));
  completion.truncated = finish == "max_tokens";
  std::string tool;
  for (const Json& block : content) {
    if (TextOf(At(block, "type")) != "tool_use") continue;
    tool = TextOf(At(block, "name"));
    completion.text += ToolCallAsText(Dump(At(block, "input")));
  }
  ExplainMissingText(completion, finish, tool);
  return completion;
}

// Adds one event to the block that it names. The arguments of tools arrive as pieces of JSON text.
void AddToBlock(Json& blocks, const Json& event) {
  const auto index = static_cast<std::size_t>(CountOf(At(event, "index")));
  if (index >= kMostBlocks) return;
  Json& block = blocks[index];
  if (TextOf(At(event, "type")) == "content_block_start") block = At(event, "content_block");
  if (!block.is_object()) block = Json::object();
  const Json& delta = At(event, "delta");
  for (const char* key : {"text", "thinking", "partial_json"}) AppendText(block, delta, key);
}

}  // namespace

std::string AnthropicBody(const WireRequest& request, const Quirks& quirks) {
  const AskOptions& options = request.options;
  const std::size_t stable =
      options.prompt_cache && quirks.Accepts("cache_control") ? request.stable_bytes : 0;
  std::string system;
  Json list = Conversation(quirks.no_system ? WithSystemFolded(request.messages) : request.messages,
                           quirks.no_system ? 0 : stable, system);
  Json body{{"model", request.model},
            {"messages", std::move(list)},
            {"max_tokens", request.sampling.max_tokens},
            {"temperature", std::clamp(request.sampling.temperature, 0.0, 1.0)}};
  if (!system.empty()) body["system"] = system;
  if (quirks.stream.value_or(options.stream)) body["stream"] = true;
  if (options.top_p) body["top_p"] = *options.top_p;
  AddThinking(body, options, request.sampling.max_tokens);
  for (const std::string& member : quirks.refused) body.erase(member);
  return Dump(body);
}

Result<Completion> AnthropicReply(std::string_view body) {
  return FromMessages(Json::parse(body, nullptr, false));
}

Result<Completion> AnthropicStream(const std::vector<std::string>& events) {
  Json body = Json::object();
  Json blocks = Json::array();
  Json usage = Json::object();
  bool ended = false;
  for (const std::string& text : events) {
    TRY(CheckEvent(text));
    const Json event = Json::parse(text, nullptr, false);
    const std::string type = TextOf(At(event, "type"));
    if (type == "message_start") Merge(body, At(event, "message"));
    Merge(usage, At(At(event, "message"), "usage"));
    Merge(usage, At(event, "usage"));
    if (type.starts_with("content_block_")) AddToBlock(blocks, event);
    if (type == "message_delta") Merge(body, At(event, "delta"));
    ended = ended || type == "message_stop" || !At(At(event, "delta"), "stop_reason").is_null();
  }
  if (!ended) return CutStream();
  for (Json& block : blocks) {
    const std::string input = TextOf(At(block, "partial_json"));
    if (!input.empty()) block["input"] = Json::parse(input, nullptr, false);
  }
  body["content"] = std::move(blocks);
  body["usage"] = std::move(usage);
  return FromMessages(body);
}

}  // namespace pragma
