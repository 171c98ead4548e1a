// TextLines: C++ code written line by line and indented by its braces.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace pragma::expert {

class TextLines final {
 public:
  // Adds a line as it is. A line "#..." starts at the margin.
  void Line(std::string_view text) {
    if (!text.empty() && text[0] != '#') text_.append(2 * depth_, ' ');
    text_ += text;
    text_ += '\n';
  }
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args)
    requires(sizeof...(Args) > 0)
  {
    Line(fmt::format(format, std::forward<Args>(args)...));
  }
  // Adds "head {" and indents the lines that follow.
  template <class... Args>
  void Open(fmt::format_string<Args...> format, Args&&... args) {
    Line(fmt::format(format, std::forward<Args>(args)...) + " {");
    ++depth_;
  }
  void Close(std::string_view after = "") {
    --depth_;
    Line("}" + std::string(after));
  }
  // Adds whole lines that were written elsewhere, indented to the current depth.
  void Block(std::string_view lines) {
    while (!lines.empty()) {
      const std::size_t end = lines.find('\n');
      if (end != 0) Line(lines.substr(0, end));
      if (end == std::string_view::npos) return;
      lines.remove_prefix(end + 1);
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace pragma::expert
