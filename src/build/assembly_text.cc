#include "build/assembly_text.h"

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace pragma {
namespace {

bool IsNamePart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

// Returns the index after the string that begins at `begin`, or the end of the text.
std::size_t SkipString(std::string_view text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

// Returns where `wanted` first occurs outside strings, or where the comment begins, or else the end
// of the text.
std::size_t FindOutside(std::string_view text, char wanted) {
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] == wanted || text[i] == '#') return i;
    i = text[i] == '"' ? SkipString(text, i) : i + 1;
  }
  return text.size();
}

// Returns the length of "name:" at the beginning, or 0. "name" may be a number.
std::size_t LabelLength(std::string_view text) {
  std::size_t i = 0;
  if (text.starts_with('"')) {
    i = SkipString(text, 0);
  } else {
    while (i < text.size() && IsNamePart(text[i])) ++i;
  }
  return i > 0 && i < text.size() && text[i] == ':' ? i + 1 : 0;
}

std::string Lower(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Removes hints for the assembler about the encoding: "{vex} vpdpbusd ...".
std::string_view WithoutEncodingHints(std::string_view code) {
  while (code.starts_with('{')) {
    const std::size_t end = code.find('}');
    if (end == std::string_view::npos) break;
    code = Trim(code.substr(end + 1));
  }
  return code;
}

Statement CodeStatement(std::string_view text) {
  Statement statement;
  statement.text = text;
  const std::string_view code = WithoutEncodingHints(Trim(text.substr(0, FindOutside(text, '#'))));
  if (code.empty()) return statement;
  std::size_t end = 0;
  while (end < code.size() && std::isspace(static_cast<unsigned char>(code[end])) == 0) ++end;
  const std::string_view rest = Trim(code.substr(end));
  // An assignment ("name = value") counts as a directive, although it has another form.
  const bool directive = code.front() == '.' || rest.starts_with('=') ||
                         std::isalpha(static_cast<unsigned char>(code.front())) == 0;
  statement.kind = directive ? Statement::Kind::kDirective : Statement::Kind::kInstruction;
  statement.name = Lower(code.substr(0, end));
  statement.operands = SplitOperands(rest);
  return statement;
}

void AddPiece(std::string_view piece, std::vector<Statement>& statements) {
  for (;;) {
    const std::string_view trimmed = Trim(piece);
    const std::size_t length = LabelLength(trimmed);
    if (length == 0) break;
    Statement label;
    label.kind = Statement::Kind::kLabel;
    label.text = trimmed.substr(0, length);
    label.name = Unquoted(trimmed.substr(0, length - 1));
    statements.push_back(label);
    piece = trimmed.substr(length);
    if (Trim(piece).empty()) return;
  }
  statements.push_back(CodeStatement(piece));
}

}  // namespace

std::vector<Statement> SplitStatements(std::string_view text) {
  std::vector<Statement> statements;
  for (const std::string& line : SplitLines(text)) {
    std::string_view rest = line;
    for (;;) {
      const std::size_t end = FindOutside(rest, ';');
      if (end == rest.size() || rest[end] == '#') break;
      AddPiece(rest.substr(0, end), statements);
      rest = rest.substr(end + 1);
    }
    AddPiece(rest, statements);
  }
  return statements;
}

std::vector<std::string> SplitOperands(std::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  std::size_t begin = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '(' || c == '{') ++depth;
    if ((c == ')' || c == '}') && depth > 0) --depth;
    if (c == ',' && depth == 0) {
      operands.emplace_back(Trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
    i = c == '"' ? SkipString(text, i) : i + 1;
  }
  const std::string_view last = Trim(text.substr(begin));
  if (!last.empty() || !operands.empty()) operands.emplace_back(last);
  return operands;
}

std::vector<std::string> NamesIn(std::string_view expression) {
  std::vector<std::string> names;
  std::size_t i = 0;
  while (i < expression.size()) {
    if (!IsNamePart(expression[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < expression.size() && IsNamePart(expression[i])) ++i;
    const std::string_view name = expression.substr(begin, i - begin);
    const bool number = std::isdigit(static_cast<unsigned char>(name.front())) != 0;
    if (!number && name != "." && name != "$") names.emplace_back(name);
  }
  return names;
}

std::string_view Unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text.remove_prefix(1);
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace pragma
