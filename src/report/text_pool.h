// TextPool: many similar texts as one list of different lines. A kernel shares most lines with its
// parent and a prompt with the one before; compression alone looks back only 32 KiB.
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
  // The text as pairs (first line, how many): the lines of each pair in turn, joined by newlines,
  // are it. Few pairs where the text continues as an earlier one did.
  std::vector<std::uint32_t> Add(std::string_view text);
  // Each different line; short ones may be there again, where they continue others.
  [[nodiscard]] const std::deque<std::string>& lines() const { return lines_; }

 private:
  // Puts the line at the end.
  std::uint32_t Append(std::string_view line);
  std::deque<std::string> lines_;  // never moves, so that the map may look into it
  std::unordered_map<std::string_view, std::uint32_t> latest_;
};

}  // namespace pragma
