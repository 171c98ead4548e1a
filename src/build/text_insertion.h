// Insertions: text to insert between the lines of an assembly.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pragma {

class Insertions final {
 public:
  // Inserts whole lines in front of a line. Texts at the same place keep the order of the calls.
  void Before(std::size_t line, std::string text) { places_.emplace_back(line, std::move(text)); }
  // Returns `lines` with the insertions, then `tail`.
  [[nodiscard]] std::string Render(const std::vector<std::string>& lines,
                                   std::string_view tail) const;

 private:
  std::vector<std::pair<std::size_t, std::string>> places_;
};

}  // namespace pragma
