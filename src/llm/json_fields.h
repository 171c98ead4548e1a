// Reads members of foreign JSON that may be absent or of any type. Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pragma {

// Returns the member, or null if `value` is not an object or has no such member. As in the other
// functions, Json is nlohmann::json.
template <class Json>
[[nodiscard]] const Json& At(const Json& value, const char* key) {
  static const Json kNull;
  if (!value.is_object()) return kNull;
  const auto found = value.find(key);
  return found == value.end() ? kNull : *found;
}

template <class Json>
[[nodiscard]] std::string TextOf(const Json& value) {
  return value.is_string() ? value.template get<std::string>() : "";
}

template <class Json>
[[nodiscard]] std::int64_t CountOf(const Json& value) {
  if (!value.is_number()) return 0;
  const auto count = value.template get<double>();
  return count > 0 && count < 1e15 ? static_cast<std::int64_t>(count) : 0;
}

// Returns the text of a string, or of a list of parts. Parts of type `type` have their text under
// `key`.
template <class Json>
[[nodiscard]] std::string PartsOf(const Json& content, std::string_view type, const char* key) {
  if (content.is_string()) return type == "text" ? content.template get<std::string>() : "";
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content) {
    if (TextOf(At(part, "type")) == type) text += TextOf(At(part, key));
  }
  return text;
}

// Appends the text of a member of `piece` to the same member of `whole`, which streams send in
// pieces.
template <class Json>
void AppendText(Json& whole, const Json& piece, const char* key) {
  const std::string text = TextOf(At(piece, key));
  if (!text.empty()) whole[key] = TextOf(At(whole, key)) + text;
}

// Copies each member of `piece` that is not null.
template <class Json>
void Merge(Json& whole, const Json& piece) {
  if (!piece.is_object()) return;
  for (const auto& [key, value] : piece.items()) {
    if (!value.is_null()) whole[key] = value;
  }
}

}  // namespace pragma
