#include "llm/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "core/json_dump.h"
#include "llm/model.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 2> kOpenTags{"<think>", "<thinking>"};
constexpr std::array<std::string_view, 2> kCloseTags{"</think>", "</thinking>"};

struct Tag {
  std::size_t at = std::string_view::npos;
  std::size_t length = 0;
  bool closes = false;
};

Tag NextTag(std::string_view text) {
  Tag first;
  const auto consider = [&](std::string_view tag, bool closes) {
    const std::size_t at = text.find(tag);
    if (at < first.at) first = {at, tag.size(), closes};
  };
  for (const std::string_view tag : kOpenTags) consider(tag, false);
  for (const std::string_view tag : kCloseTags) consider(tag, true);
  return first;
}

void Append(std::string& text, std::string_view part) {
  part = Trim(part);
  if (part.empty()) return;
  if (!text.empty()) text += "\n\n";
  text += part;
}

std::int64_t EstimatedTokens(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 3) / 4);
}

template <class T>
void Read(const Json& object, const char* key, T& value) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  if constexpr (std::is_same_v<T, bool>) {
    if (found->is_boolean()) value = found->template get<T>();
  } else if constexpr (std::is_integral_v<T>) {
    if (found->is_number_integer()) value = found->template get<T>();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (found->is_number()) value = found->template get<T>();
  } else {
    if (found->is_string()) value = found->template get<T>();
  }
}

}  // namespace

SeparatedReply SeparateReasoning(std::string_view reply) {
  SeparatedReply parts;
  int depth = 0;
  while (true) {
    const Tag tag = NextTag(reply);
    const std::string_view before = reply.substr(0, tag.at);
    if (depth > 0 || (tag.closes && depth == 0)) {
      // This is a stray closing tag, so the text so far was reasoning.
      if (depth == 0) Append(parts.reasoning, std::exchange(parts.text, {}));
      Append(parts.reasoning, before);
    } else {
      parts.text += before;
    }
    if (tag.at == std::string_view::npos) return parts;
    depth = tag.closes ? std::max(0, depth - 1) : depth + 1;
    reply.remove_prefix(tag.at + tag.length);
  }
}

void FinishCompletion(Completion& completion, const std::vector<Message>& messages,
                      const Price& price) {
  completion.text = ToValidUtf8(completion.text);
  completion.reasoning = ToValidUtf8(completion.reasoning);
  SeparatedReply parts = SeparateReasoning(completion.text);
  completion.text = std::move(parts.text);
  Append(completion.reasoning, parts.reasoning);
  if (completion.tokens_in == 0 && completion.tokens_out == 0) {
    completion.tokens_estimated = true;
    std::size_t prompt_bytes = 0;
    for (const Message& message : messages) prompt_bytes += message.text.size();
    completion.tokens_in = EstimatedTokens(prompt_bytes);
    completion.tokens_out = EstimatedTokens(completion.text.size() + completion.reasoning.size());
  }
  completion.usd = (static_cast<double>(completion.tokens_in) * price.usd_per_million_in +
                    static_cast<double>(completion.tokens_out) * price.usd_per_million_out) /
                   1e6;
}

std::string CompletionToJson(const Completion& completion) {
  return Dump(Json{{"text", completion.text},
                   {"reasoning", completion.reasoning},
                   {"model", completion.model},
                   {"tokens_in", completion.tokens_in},
                   {"tokens_out", completion.tokens_out},
                   {"tokens_estimated", completion.tokens_estimated},
                   {"usd", completion.usd},
                   {"seconds", completion.seconds},
                   {"truncated", completion.truncated}});
}

Result<Completion> CompletionFromJson(std::string_view json) {
  const Json object = Json::parse(json, nullptr, false);
  if (!object.is_object()) return Fail("a recorded completion is not a JSON object");
  if (!object.contains("text") || !object["text"].is_string()) {
    return Fail("a recorded completion has no \"text\"");
  }
  Completion completion;
  Read(object, "text", completion.text);
  Read(object, "reasoning", completion.reasoning);
  Read(object, "model", completion.model);
  Read(object, "tokens_in", completion.tokens_in);
  Read(object, "tokens_out", completion.tokens_out);
  Read(object, "tokens_estimated", completion.tokens_estimated);
  Read(object, "usd", completion.usd);
  Read(object, "seconds", completion.seconds);
  Read(object, "truncated", completion.truncated);
  return completion;
}

std::string MessagesToJson(const std::vector<Message>& messages) {
  Json list = Json::array();
  for (const Message& message : messages) {
    list.push_back(Json{{"role", message.role}, {"text", message.text}});
  }
  return Dump(list);
}

Result<std::vector<Message>> MessagesFromJson(std::string_view json) {
  const Json list = Json::parse(json, nullptr, false);
  if (!list.is_array()) return Fail("recorded messages are not a JSON list");
  std::vector<Message> messages;
  for (const Json& item : list) {
    if (!item.is_object()) return Fail("a recorded message is not a JSON object");
    Message& message = messages.emplace_back();
    Read(item, "role", message.role);
    Read(item, "text", message.text);
  }
  return messages;
}

std::string MessagesAsText(const std::vector<Message>& messages) {
  std::string text;
  const auto turns =
      std::ranges::count_if(messages, [](const Message& m) { return m.role != "system"; });
  for (const Message& message : messages) {
    if (!text.empty()) text += "\n\n";
    if (turns > 1 && message.role == "assistant") text += "=== Your earlier reply ===\n\n";
    if (turns > 1 && message.role == "user") text += "=== Request ===\n\n";
    text += message.text;
  }
  return text;
}

}  // namespace pragma
