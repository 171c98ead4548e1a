// PyLines: the text of a Python function, written line by line and indented by its blocks.
#pragma once

#include <string>
#include <string_view>

namespace pragma::expert::triton {

class PyLines final {
 public:
  explicit PyLines(int depth = 0) : depth_(depth) {}

  void Line(std::string_view text) {
    if (!text.empty()) text_.append(4 * static_cast<std::size_t>(depth_), ' ');
    text_ += text;
    text_ += '\n';
  }
  void Open(std::string_view head) {
    Line(head);
    ++depth_;
  }
  void Close() { --depth_; }
  // Appends lines that were written separately, at the depth they were given.
  void Append(const PyLines& other) { text_ += other.text_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_;
};

}  // namespace pragma::expert::triton
