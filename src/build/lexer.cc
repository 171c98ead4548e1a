#include "build/lexer.h"

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace pragma {
namespace {

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Lexer final {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  LexedSource Run() {
    while (at_ < text_.size()) Step();
    return std::move(result_);
  }

 private:
  [[nodiscard]] char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool Sees(std::string_view word) const {
    return text_.substr(at_).starts_with(word);
  }

  void Advance(std::size_t count = 1) {
    for (; count > 0 && at_ < text_.size(); --count, ++at_) {
      if (text_[at_] == '\n') ++line_;
    }
  }

  void Step() {
    const char c = Peek();
    if (SkipSplice() || SkipComment()) return;
    if (c == '\n') {
      fresh_line_ = true;
      Advance();
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      Advance();
    } else if (fresh_line_ && (c == '#' || Sees("%:"))) {
      Directive();
    } else {
      fresh_line_ = false;
      Token();
    }
  }

  bool SkipSplice() {
    if (Peek() != '\\' || (Peek(1) != '\n' && !(Peek(1) == '\r' && Peek(2) == '\n'))) return false;
    Advance(Peek(1) == '\n' ? 2 : 3);
    return true;
  }

  bool SkipComment() {
    if (Sees("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      Advance(end == std::string_view::npos ? text_.size() - at_ : end + 2 - at_);
      return true;
    }
    if (!Sees("//")) return false;
    SourceComment comment{.text = {}, .line = line_};
    for (Advance(2); at_ < text_.size() && Peek() != '\n';) {
      if (SkipSplice()) continue;
      comment.text += Peek();
      Advance();
    }
    result_.comments.push_back(std::move(comment));
    return true;
  }

  void Directive() {
    SourceDirective directive{.name = {}, .rest = {}, .line = line_};
    Advance(Peek() == '#' ? 1 : 2);
    std::string text;
    while (at_ < text_.size() && Peek() != '\n') {
      if (SkipSplice()) continue;
      if (SkipComment()) {
        text += ' ';
        continue;
      }
      text += Peek();
      Advance();
    }
    const std::string_view rest = Trim(text);
    std::size_t length = 0;
    while (length < rest.size() && IsWordChar(rest[length])) ++length;
    directive.name = rest.substr(0, length);
    directive.rest = Trim(rest.substr(length));
    result_.directives.push_back(std::move(directive));
  }

  void Token() {
    if (IsWordChar(Peek())) {
      Word();
    } else if (Peek() == '"') {
      String();
    } else if (Peek() == '\'') {
      Character();
    } else {
      Add(SourceToken::Kind::kPunctuation, std::string(1, Peek()), line_);
      Advance();
    }
  }

  void Add(SourceToken::Kind kind, std::string text, int line) {
    result_.tokens.push_back({.kind = kind, .text = std::move(text), .line = line});
  }

  void Word() {
    const int line = line_;
    const bool number = std::isdigit(static_cast<unsigned char>(Peek())) != 0;
    std::string word;
    // A quote inside a number is a digit separator.
    while (IsWordChar(Peek()) || (number && Peek() == '\'' && IsWordChar(Peek(1)))) {
      word += Peek();
      Advance();
      while (SkipSplice()) {
      }
    }
    if (Peek() == '"' && word.size() <= 3 && word.ends_with('R')) return RawString();
    Add(number ? SourceToken::Kind::kNumber : SourceToken::Kind::kIdentifier, std::move(word),
        line);
  }

  void String() {
    const int line = line_;
    std::string contents;
    for (Advance(); at_ < text_.size() && Peek() != '"' && Peek() != '\n';) {
      if (SkipSplice()) continue;
      const std::size_t take = Peek() == '\\' ? 2 : 1;
      contents += text_.substr(at_, take);
      Advance(take);
    }
    Advance();
    Add(SourceToken::Kind::kString, std::move(contents), line);
  }

  void RawString() {
    const int line = line_;
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) return Advance();
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t end = text_.find(close, open);
    const std::size_t stop = end == std::string_view::npos ? text_.size() : end;
    Add(SourceToken::Kind::kString, std::string(text_.substr(open + 1, stop - open - 1)), line);
    Advance(stop + (end == std::string_view::npos ? 0 : close.size()) - at_);
  }

  void Character() {
    for (Advance(); at_ < text_.size() && Peek() != '\'' && Peek() != '\n';)
      Advance(Peek() == '\\' ? 2 : 1);
    Advance();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool fresh_line_ = true;
  LexedSource result_;
};

}  // namespace

LexedSource LexSource(std::string_view source) { return Lexer(source).Run(); }

}  // namespace pragma
