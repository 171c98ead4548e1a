// A C++ source split just far enough for the tripwires and for what pragma reads in it: directives,
// identifiers, literals, comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pragma {

struct SourceToken {
  enum class Kind { kIdentifier, kNumber, kString, kPunctuation };
  Kind kind = Kind::kPunctuation;
  std::string text;  // of a string: its contents as written, without quotes
  int line = 0;      // 1-based
};

struct SourceDirective {
  std::string name;  // "include"
  std::string rest;  // the trimmed remainder of the line
  int line = 0;
};

// A comment to the end of its line.
struct SourceComment {
  std::string text;  // without the slashes; spliced lines are one
  int line = 0;
};

struct LexedSource {
  std::vector<SourceToken> tokens;          // outside directives; comments are gone
  std::vector<SourceDirective> directives;  // spliced lines are one
  std::vector<SourceComment> comments;
};

// Never fails: whatever is malformed is the compiler's to complain about.
[[nodiscard]] LexedSource LexSource(std::string_view source);

}  // namespace pragma
