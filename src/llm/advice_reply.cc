#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/advice.h"
#include "llm/completion.h"
#include "llm/reply.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kTextBytes = 8000;  // limit for each text in the advice
constexpr std::size_t kMostMetrics = 16;
constexpr std::size_t kMetricBytes = 100;
constexpr std::size_t kAdviceBytes = std::size_t{1} << 19U;  // further bytes are not read
constexpr int kMostStarts = 200;                             // how many objects in prose are tried

bool IsDecision(const Json& value) {
  return value.is_object() &&
         (value.contains("change") || value.contains("stop") || value.contains("bottleneck"));
}

// Returns the end of the balanced object that begins at text[0], or 0.
std::size_t ObjectEnd(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == '{') {
      ++depth;
    } else if (!quoted && c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

// Returns the last object in the text that is a decision. The search starts at the end, where the
// decision should be.
std::optional<Json> DecisionIn(std::string_view text) {
  std::size_t at = text.rfind('{');
  for (int starts = 0; at != std::string_view::npos && starts < kMostStarts; ++starts) {
    const std::size_t end = ObjectEnd(text.substr(at));
    if (end > 0) {
      Json json = Json::parse(WithEscapedBreaks(text.substr(at, end)), nullptr, false);
      if (IsDecision(json)) return json;
    }
    if (at == 0) break;
    at = text.rfind('{', at - 1);
  }
  return std::nullopt;
}

std::string FieldOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return Shorten(Trim(ToValidUtf8(found->get<std::string>())), kTextBytes);
}

std::vector<std::string> Metrics(const Json& object) {
  std::vector<std::string> metrics;
  const auto found = object.find("extra_metrics");
  if (found == object.end() || !found->is_array()) return metrics;
  for (const Json& item : *found) {
    if (metrics.size() == kMostMetrics) break;
    if (item.is_string())
      metrics.push_back(Shorten(ToValidUtf8(item.get<std::string>()), kMetricBytes));
  }
  return metrics;
}

bool IsTrue(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  return *found == Json(true) || *found == Json("true");
}

std::optional<Base> BaseOf(const std::string& word) {
  if (word == "current") return Base::kCurrent;
  if (word == "best" || word.empty()) return Base::kBest;
  if (word == "reference") return Base::kReference;
  return std::nullopt;
}

AdviceReply FromJson(const Json& object) {
  const std::string word = FieldOf(object, "base");
  const std::optional<Base> base = BaseOf(word);
  if (!base) return {.advice = {}, .problem = R"("base" must be "current" or "best")"};
  Advice advice{.base = *base,
                .bottleneck = FieldOf(object, "bottleneck"),
                .evidence = FieldOf(object, "evidence"),
                .change = FieldOf(object, "change"),
                .extra_metrics = Metrics(object),
                .stop = IsTrue(object, "stop")};
  if (advice.change.empty() && !advice.stop) {
    return {.advice = {}, .problem = R"("change" is missing or empty, and "stop" is not true)"};
  }
  return {.advice = std::move(advice), .problem = {}};
}

}  // namespace

std::string WithEscapedBreaks(std::string_view text) {
  std::string escaped;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && (c == '\n' || c == '\t')) {
      escaped += c == '\n' ? "\\n" : "\\t";
      continue;
    }
    escaped += c;
    if (quoted && c == '\\' && i + 1 < text.size()) escaped += text[++i];
  }
  return escaped;
}

AdviceReply ParseAdviceReply(std::string_view reply) {
  const std::string text = ToValidUtf8(SeparateReasoning(reply.substr(0, kAdviceBytes)).text);
  std::optional<Json> decision;
  for (const FencedBlock& block : FencedBlocks(text)) {
    if (auto found = DecisionIn(block.text)) decision = std::move(found);
  }
  if (!decision) decision = DecisionIn(text);
  if (decision) return FromJson(*decision);
  return {.advice = {}, .problem = "the reply has no JSON object with the decision"};
}

}  // namespace pragma
