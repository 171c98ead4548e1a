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

// FenceTracker: whether a text, given piece by piece, is inside a fenced block. A tag in the middle
// of a line of code, as in a comment, is code.
class FenceTracker final {
 public:
  void Feed(std::string_view piece) {
    for (std::size_t end = piece.find('\n'); end != std::string_view::npos;
         end = piece.find('\n')) {
      line_ += piece.substr(0, end);
      piece.remove_prefix(end + 1);
      EndLine();
    }
    line_ += piece;
  }
  [[nodiscard]] bool InsideCode() const { return inside_ && !Trim(line_).empty(); }

 private:
  void EndLine() {
    std::size_t fences = 0;
    for (std::size_t at = line_.find("```"); at != std::string::npos;
         at = line_.find("```", line_.find_first_not_of('`', at)))
      ++fences;
    inside_ = inside_ ? !Trim(line_).starts_with("```") : fences % 2 == 1;
    line_.clear();
  }
  bool inside_ = false;
  std::string line_;
};

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

// Computes the cost, and what it would have been without a cache of prompts.
void AddCost(Completion& completion, const Price& price) {
  const auto cost = [](std::int64_t tokens, double usd_per_million) {
    return static_cast<double>(tokens) * usd_per_million / 1e6;
  };
  const double in = price.usd_per_million_in;
  const std::int64_t plain =
      completion.tokens_in - completion.tokens_cached - completion.tokens_written;
  const double prompt = cost(plain, in) +
                        cost(completion.tokens_cached, price.usd_per_million_cached.value_or(in)) +
                        cost(completion.tokens_written, price.usd_per_million_written.value_or(in));
  completion.usd_saved = cost(completion.tokens_in, in) - prompt;
  completion.usd = prompt + cost(completion.tokens_out, price.usd_per_million_out);
}

}  // namespace

SeparatedReply SeparateReasoning(std::string_view reply) {
  SeparatedReply parts;
  FenceTracker fences;
  int depth = 0;
  while (true) {
    const Tag tag = NextTag(reply);
    const std::string_view before = reply.substr(0, tag.at);
    if (depth == 0) fences.Feed(before);
    if (depth == 0 && tag.length > 0 && fences.InsideCode()) {
      const std::string_view code = reply.substr(0, tag.at + tag.length);
      fences.Feed(code.substr(tag.at));
      parts.text += code;
      reply.remove_prefix(code.size());
      continue;
    }
    if (depth > 0 || (tag.closes && depth == 0)) {
      // This is a stray closing tag, so the text so far was reasoning.
      if (depth == 0) Append(parts.reasoning, std::exchange(parts.text, {}));
      Append(parts.reasoning, before);
      fences = {};
    } else {
      parts.text += before;
    }
    if (tag.at == std::string_view::npos) break;
    depth = tag.closes ? std::max(0, depth - 1) : depth + 1;
    reply.remove_prefix(tag.at + tag.length);
  }
  parts.open = depth > 0;
  return parts;
}

void FinishCompletion(Completion& completion, const std::vector<Message>& messages,
                      const Price& price) {
  completion.text = ToValidUtf8(completion.text);
  completion.reasoning = ToValidUtf8(completion.reasoning);
  completion.problem = ToValidUtf8(completion.problem);
  SeparatedReply parts = SeparateReasoning(completion.text);
  completion.thinking_open = parts.open;
  completion.text = std::move(parts.text);
  Append(completion.reasoning, parts.reasoning);
  if (completion.tokens_in == 0 && completion.tokens_out == 0) {
    completion.tokens_estimated = true;
    std::size_t prompt_bytes = 0;
    for (const Message& message : messages) prompt_bytes += message.text.size();
    completion.tokens_in = EstimatedTokens(prompt_bytes);
    completion.tokens_out = EstimatedTokens(completion.text.size() + completion.reasoning.size());
  }
  AddCost(completion, price);
}

// What is rare is left out where it is absent, as in older records.
std::string CompletionToJson(const Completion& completion) {
  Json json{{"text", completion.text},
            {"reasoning", completion.reasoning},
            {"model", completion.model},
            {"tokens_in", completion.tokens_in},
            {"tokens_out", completion.tokens_out},
            {"tokens_estimated", completion.tokens_estimated},
            {"usd", completion.usd},
            {"seconds", completion.seconds},
            {"truncated", completion.truncated}};
  if (completion.tokens_cached > 0) json["tokens_cached"] = completion.tokens_cached;
  if (completion.tokens_written > 0) json["tokens_written"] = completion.tokens_written;
  if (completion.usd_saved != 0) json["usd_saved"] = completion.usd_saved;
  if (completion.thinking_open) json["thinking_open"] = true;
  if (!completion.problem.empty()) json["problem"] = completion.problem;
  return Dump(json);
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
  Read(object, "tokens_cached", completion.tokens_cached);
  Read(object, "tokens_written", completion.tokens_written);
  Read(object, "usd_saved", completion.usd_saved);
  Read(object, "thinking_open", completion.thinking_open);
  Read(object, "problem", completion.problem);
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
