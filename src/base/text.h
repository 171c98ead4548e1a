// Small text helpers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {

[[nodiscard]] std::vector<std::string> Split(std::string_view text, char separator);
[[nodiscard]] std::vector<std::string> SplitLines(std::string_view text);
[[nodiscard]] std::string_view Trim(std::string_view text);
[[nodiscard]] std::string Join(const std::vector<std::string>& parts, std::string_view separator);
// Shortens the text to at most `max_bytes`. Cuts it in the middle, where a note says how much is
// missing. Never cuts inside a UTF-8 character.
[[nodiscard]] std::string Shorten(std::string_view text, std::size_t max_bytes);
// Returns valid UTF-8, in which U+FFFD replaces every invalid byte. For untrusted text that is
// written into JSON.
[[nodiscard]] std::string ToValidUtf8(std::string_view text);
// Returns whether `word` is in the list `words`.
template <class Words>
[[nodiscard]] bool IsOneOf(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != std::ranges::end(words);
}
template <class Words>
[[nodiscard]] bool StartsWithOneOf(std::string_view word, const Words& starts) {
  return std::ranges::any_of(starts,
                             [word](std::string_view start) { return word.starts_with(start); });
}
// Returns the candidate nearest to `word` by edit distance, or an empty text when none is near.
[[nodiscard]] std::string Nearest(std::string_view word,
                                  const std::vector<std::string>& candidates);
// Formats a number of bytes: "1.5 GiB", "320 B".
[[nodiscard]] std::string FormatBytes(double bytes);
// Formats a count, of instructions for example: "9876", "12.3 k", "1.05 M".
[[nodiscard]] std::string FormatCount(double value);
// Formats a time with three significant digits: "12.3 us", "4.56 ms", "1.2 s".
[[nodiscard]] std::string FormatSeconds(double seconds);

}  // namespace pragma
