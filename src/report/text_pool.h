// TextPool: stores many similar texts as one list of distinct lines. A kernel shares most lines
// with its parent, and a prompt with the previous one. Compression alone looks back only 32 KiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pragma {

class TextPool final {
 public:
  // Returns the text as pairs (first line, count). The text is the lines of all pairs in order,
  // joined by newlines. There are few pairs if the text continues as an earlier one did.
  std::vector<std::uint32_t> Add(std::string_view text);
  // Each distinct line. A short line may occur again where it continues other lines.
  [[nodiscard]] const std::deque<std::string>& lines() const { return lines_; }

 private:
  // Appends the line at the end.
  std::uint32_t Append(std::string_view line);
  std::deque<std::string> lines_;  // never moves, so that the map may refer to it
  std::unordered_map<std::string_view, std::uint32_t> latest_;
};

}  // namespace pragma
