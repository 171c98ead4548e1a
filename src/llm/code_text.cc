#include "llm/code_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pragma {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool InName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Returns the end of a literal in quotes that begins at `at`. A line ends it too.
std::size_t EndOfQuoted(std::string_view code, std::size_t at) {
  for (std::size_t i = at + 1; i < code.size() && code[i] != '\n'; ++i) {
    if (code[i] == '\\')
      ++i;
    else if (code[i] == code[at])
      return i + 1;
  }
  return kNone;
}

// Returns the end of R"x(...)x", whose quote is at `at`.
std::size_t EndOfRaw(std::string_view code, std::size_t at) {
  const std::size_t open = code.find('(', at);
  if (open == kNone) return kNone;
  const std::string close = ")" + std::string(code.substr(at + 1, open - at - 1)) + "\"";
  const std::size_t end = code.find(close, open);
  return end == kNone ? kNone : end + close.size();
}

std::size_t After(std::size_t found, std::size_t length) {
  return found == kNone ? kNone : found + length;
}

// Returns the end of the comment or literal that begins at `at`, `at` if none begins there, or
// kNone if it never ends.
std::size_t EndOfSkipped(std::string_view code, std::size_t at) {
  const std::string_view rest = code.substr(at);
  const char before = at == 0 ? '\0' : code[at - 1];
  if (rest.starts_with("/*")) return After(code.find("*/", at + 2), 2);
  if (rest.starts_with("//")) return std::min(code.find('\n', at), code.size());
  if (rest.front() == '"') return before == 'R' ? EndOfRaw(code, at) : EndOfQuoted(code, at);
  if (rest.front() == '\'' && !InName(before)) return EndOfQuoted(code, at);  // else 1'000
  return at;
}

// Returns the text with comments and literals replaced by spaces, or nullopt if one never ends.
std::optional<std::string> Bare(std::string_view code) {
  std::string bare;
  for (std::size_t i = 0; i < code.size();) {
    const std::size_t end = EndOfSkipped(code, i);
    if (end == kNone) return std::nullopt;
    bare += end == i ? code[i] : ' ';
    i = end == i ? i + 1 : end;
  }
  return bare;
}

// Returns the place behind the bracket that closes the one at `at`, or kNone.
std::size_t Behind(std::string_view bare, std::size_t at) {
  int depth = 0;
  for (std::size_t i = at; i < bare.size(); ++i) {
    if (bare[i] == '(') ++depth;
    if (bare[i] == ')' && --depth == 0) return i + 1;
  }
  return kNone;
}

}  // namespace

bool IsWhole(std::string_view code) {
  const std::optional<std::string> bare = Bare(code);
  if (!bare) return false;
  std::string open;
  for (const char c : *bare) {
    if (c == '{' || c == '(') open += c;
    if (c != '}' && c != ')') continue;
    if (open.empty() || open.back() != (c == '}' ? '{' : '(')) return false;
    open.pop_back();
  }
  return open.empty();
}

bool DefinesFunction(std::string_view code, std::string_view name) {
  const std::string bare = Bare(code).value_or(std::string(code));
  for (std::size_t at = bare.find(name); at != kNone; at = bare.find(name, at + 1)) {
    if ((at > 0 && InName(bare[at - 1])) ||
        InName(bare[std::min(at + name.size(), bare.size() - 1)]))
      continue;
    const std::size_t open = bare.find_first_not_of(" \n\t", at + name.size());
    if (open == kNone || bare[open] != '(') continue;
    const std::size_t close = Behind(bare, open);
    if (close == kNone) continue;
    const std::size_t next = bare.find_first_of("{;(),=", close);
    if (next != kNone && bare[next] == '{') return true;
  }
  return false;
}

}  // namespace pragma
