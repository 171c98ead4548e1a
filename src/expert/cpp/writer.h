// Writer: the text of a program, written line by line and indented by its braces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pragma::expert {

class Writer final {
 public:
  explicit Writer(int depth = 0) : depth_(depth) {}

  // Adds a line. A line that ends in "{" opens a block, and one that begins with "}" closes it.
  void Line(std::string_view text) {
    if (text.starts_with('}')) --depth_;
    if (!text.empty() && !text.starts_with('#'))
      text_.append(2 * static_cast<std::size_t>(depth_), ' ');
    text_ += text;
    text_ += '\n';
    if (text.ends_with('{')) ++depth_;
  }
  // Appends lines that were written separately, at the depth they were given.
  void Append(const Writer& other) { text_ += other.text_; }
  [[nodiscard]] int depth() const { return depth_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_;
};

}  // namespace pragma::expert
