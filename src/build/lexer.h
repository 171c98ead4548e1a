// Splits a C++ source as far as the tripwires, and pragma's own reading of it, need: directives,
// identifiers, literals, comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pragma {

struct SourceToken {
  enum class Kind { kIdentifier, kNumber, kString, kPunctuation };
  Kind kind = Kind::kPunctuation;
  std::string text;  // for a string: its contents as written, without quotes
  int line = 0;      // 1-based
};

struct SourceDirective {
  std::string name;  // "include"
  std::string rest;  // trimmed rest of the line
  int line = 0;
};

// SourceComment: a comment that extends to the end of its line.
struct SourceComment {
  std::string text;  // text without the slashes; spliced lines are joined
  int line = 0;
};

struct LexedSource {
  std::vector<SourceToken> tokens;          // tokens outside directives, without comments
  std::vector<SourceDirective> directives;  // spliced lines are joined
  std::vector<SourceComment> comments;
};

// Splits a source. It never fails: malformed text is left for the compiler to report.
[[nodiscard]] LexedSource LexSource(std::string_view source);

}  // namespace pragma
