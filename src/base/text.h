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
// At most `max_bytes`, cut in the middle with a note of how much is missing; never inside a UTF-8
// character.
[[nodiscard]] std::string Shorten(std::string_view text, std::size_t max_bytes);
// Valid UTF-8: every wrong byte becomes U+FFFD. For foreign text that goes into JSON.
[[nodiscard]] std::string ToValidUtf8(std::string_view text);
// One of a list of words.
template <class Words>
[[nodiscard]] bool IsOneOf(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != std::ranges::end(words);
}
template <class Words>
[[nodiscard]] bool StartsWithOneOf(std::string_view word, const Words& starts) {
  return std::ranges::any_of(starts,
                             [word](std::string_view start) { return word.starts_with(start); });
}
// The candidate nearest to `word` by edit distance, or empty when none is near.
[[nodiscard]] std::string Nearest(std::string_view word,
                                  const std::vector<std::string>& candidates);
// "1.5 GiB", "320 B".
[[nodiscard]] std::string FormatBytes(double bytes);
// "9876", "12.3 k", "1.05 M": counts of instructions and the like.
[[nodiscard]] std::string FormatCount(double value);
// "12.3 us", "4.56 ms", "1.2 s": three significant digits.
[[nodiscard]] std::string FormatSeconds(double seconds);

}  // namespace pragma
