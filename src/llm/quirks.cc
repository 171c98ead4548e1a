#include "llm/quirks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/json_fields.h"

namespace pragma {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kLeastReply = 2048;  // tokens: a kernel and a little reasoning
constexpr std::int64_t kReserve = 64;       // tokens that services add to a conversation
constexpr std::int64_t kMostNumber = 100'000'000;

bool InWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

// Returns the place of a word that is not a part of a longer one, or npos.
std::size_t FindWord(std::string_view text, std::string_view word, std::size_t from = 0) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !InWord(text[at - 1])) && (end == text.size() || !InWord(text[end]))) return at;
  }
  return std::string_view::npos;
}

bool Mentions(std::string_view text, std::string_view word) {
  return FindWord(text, word) != std::string_view::npos;
}

template <std::size_t N>
bool HasAny(std::string_view text, const std::array<std::string_view, N>& parts) {
  return std::ranges::any_of(
      parts, [text](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// Returns the whole numbers in the text, in order. "8,192" is one number.
std::vector<std::int64_t> Numbers(std::string_view text) {
  std::vector<std::int64_t> numbers;
  std::string digits;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : '\0';
    const bool digit = c >= '0' && c <= '9';
    const bool comma = c == ',' && !digits.empty() && i + 3 < text.size() &&
                       std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0;
    if (digit) digits += c;
    if (digit || comma || digits.empty()) continue;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && number <= kMostNumber) numbers.push_back(number);
    digits.clear();
  }
  return numbers;
}

// Returns the request's member for the longest reply.
std::string LimitMember(const Json& request) {
  for (const char* name : {"max_tokens", "max_completion_tokens", "max_output_tokens"}) {
    if (request.contains(name)) return name;
  }
  return {};
}

// Returns what the service complains of: the parameter that it names apart, then its message.
std::string ComplaintText(const Refusal& refusal) {
  const Json body = Json::parse(refusal.body, nullptr, false);
  std::string text = TextOf(At(At(body, "error"), "param"));
  text += (text.empty() ? "" : " ") + std::string(refusal.complaint);
  return LowerCase(text);
}

// A limit for the reply that the complaint names and that is below what was asked for.
std::string LearnLimit(std::string_view text, const Json& request, Quirks& quirks) {
  constexpr std::array<std::string_view, 8> kLimits{"at most", "maximum", "max ",   "less than",
                                                    "<=",      "limit",   "exceed", "too large"};
  const std::string member = LimitMember(request);
  if (member.empty() || !Mentions(text, member) || !HasAny(text, kLimits)) return {};
  const std::int64_t asked = CountOf(request[member]);
  std::int64_t most = 0;
  for (const std::int64_t number : Numbers(text))
    if (number >= 16 && number < asked) most = std::max(most, number);
  if (most == 0) return {};
  quirks.most_tokens = most;
  return fmt::format("replies have at most {} tokens", most);
}

std::string LearnStream(std::string_view text, const Json& request, Quirks& quirks) {
  if (request.contains("stream_options") && Mentions(text, "stream_options")) {
    quirks.refused.insert("stream_options");
    return "it takes no stream_options";
  }
  const bool about = Mentions(text, "stream") || Mentions(text, "streaming");
  if (!about || quirks.stream) return {};
  const bool streamed = At(request, "stream") == Json(true);
  quirks.stream = !streamed;
  return streamed ? "it does not stream" : "it only streams";
}

std::string LearnSystem(std::string_view text, std::string_view request, Quirks& quirks) {
  constexpr std::array<std::string_view, 4> kAbout{"role", "message", "prompt", "instruction"};
  const bool sent = request.find(R"("role":"system")") != std::string_view::npos ||
                    request.find(R"("system":)") != std::string_view::npos;
  if (quirks.no_system || !sent || !Mentions(text, "system") || !HasAny(text, kAbout)) return {};
  quirks.no_system = true;
  return "it takes no system messages";
}

// A member of the request that the complaint names. The first one named is meant.
std::string LearnMember(std::string_view text, const Json& request, Quirks& quirks) {
  constexpr std::array<std::string_view, 5> kNeeded{"model", "messages", "input", "stream",
                                                    "system"};
  std::string named;
  std::size_t first = std::string_view::npos;
  for (const auto& [member, value] : request.items()) {
    const std::size_t at = FindWord(text, member);
    if (at >= first || std::ranges::find(kNeeded, member) != kNeeded.end()) continue;
    first = at;
    named = member;
  }
  if (named.empty()) return {};
  if (named == "max_tokens" && Mentions(text, "max_completion_tokens")) {
    quirks.max_completion_tokens = true;
    return "it wants max_completion_tokens instead of max_tokens";
  }
  quirks.refused.insert(named);
  return fmt::format("it takes no {}", named);
}

// Returns how many tokens the model takes, as the complaint says, or 0.
std::int64_t WindowIn(std::string_view text) {
  for (const std::string_view before : {"maximum", "context size", "context window", ">"}) {
    const std::size_t at = text.find(before);
    if (at == std::string_view::npos) continue;
    const std::vector<std::int64_t> numbers = Numbers(text.substr(at));
    if (!numbers.empty()) return numbers.front();
  }
  return 0;
}

std::string LearnCacheControl(std::string_view text, std::string_view request, Quirks& quirks) {
  if (!Mentions(text, "cache_control") || !quirks.Accepts("cache_control")) return {};
  if (request.find("cache_control") == std::string_view::npos) return {};
  quirks.refused.insert("cache_control");
  return "it takes no cache_control";
}

}  // namespace

std::string LearnQuirk(const Refusal& refusal, Quirks& quirks) {
  const std::string text = ComplaintText(refusal);
  const Json request = Json::parse(refusal.request, nullptr, false);
  if (!request.is_object()) return {};
  std::string learnt = LearnCacheControl(text, refusal.request, quirks);
  if (learnt.empty()) learnt = LearnLimit(text, request, quirks);
  if (learnt.empty()) learnt = LearnStream(text, request, quirks);
  if (learnt.empty()) learnt = LearnSystem(text, refusal.request, quirks);
  if (learnt.empty()) learnt = LearnMember(text, request, quirks);
  return learnt;
}

bool SaysTooLong(std::string_view complaint) {
  constexpr std::array<std::string_view, 16> kSayings{
      "context_length",  "context limit",         "context length",    "context too long",
      "context window",  "context size",          "sequence length",   "prompt is too long",
      "prompt too long", "input is too long",     "input too long",    "input length",
      "too many tokens", "too many input tokens", "reduce the length", "request too large"};
  return HasAny(LowerCase(complaint), kSayings);
}

std::optional<std::int64_t> RoomForReply(std::string_view complaint, std::size_t prompt_bytes,
                                         std::int64_t asked) {
  constexpr std::array<std::string_view, 5> kPromptAlone{"prompt is too long", "prompt too long",
                                                         "input is too long", "input too long",
                                                         "messages resulted in"};
  if (!SaysTooLong(complaint) || HasAny(LowerCase(complaint), kPromptAlone)) return std::nullopt;
  // Three bytes for each token of the prompt are a careful estimate.
  const auto prompt = static_cast<std::int64_t>(prompt_bytes / 3) + kReserve;
  const std::int64_t window = WindowIn(LowerCase(complaint));
  const std::int64_t room = window - prompt;
  if (room < kLeastReply || room >= asked) return std::nullopt;
  return room;
}

}  // namespace pragma
