// Splits an assembly text into statements: labels, directives, instructions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pragma {

struct Statement {
  enum class Kind { kNothing, kLabel, kDirective, kInstruction };
  Kind kind = Kind::kNothing;
  std::string text;                   // as written, with its comment
  std::string name;                   // label, directive with its dot, or mnemonic in lower case
  std::vector<std::string> operands;  // without the comment
};

// Returns one statement for each label, directive and instruction, even if a line holds several.
// Their texts, joined by line ends, mean the same as `text`.
[[nodiscard]] std::vector<Statement> SplitStatements(std::string_view text);

// Splits at the commas outside brackets, braces and strings.
[[nodiscard]] std::vector<std::string> SplitOperands(std::string_view text);

// Returns the names in an expression: ".L4" and ".L8" for ".L4-.L8+3".
[[nodiscard]] std::vector<std::string> NamesIn(std::string_view expression);

// Returns the text without its quotes, if it has them.
[[nodiscard]] std::string_view Unquoted(std::string_view text);

}  // namespace pragma
