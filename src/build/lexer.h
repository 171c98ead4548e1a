// A C++ source split just far enough for the tripwires: directives, identifiers, string literals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pragma {

struct SourceToken {
  enum class Kind { kIdentifier, kString, kPunctuation };
  Kind kind = Kind::kPunctuation;
  std::string text;  // of a string: its contents as written, without quotes
  int line = 0;      // 1-based
};

struct SourceDirective {
  std::string name;  // "include"
  std::string rest;  // the trimmed remainder of the line
  int line = 0;
};

struct LexedSource {
  std::vector<SourceToken> tokens;          // outside directives; comments are gone
  std::vector<SourceDirective> directives;  // spliced lines are one
};

// Never fails: whatever is malformed is the compiler's to complain about.
[[nodiscard]] LexedSource LexSource(std::string_view source);

}  // namespace pragma
