// The statements of an assembly text: labels, directives, instructions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pragma {

struct Statement {
  enum class Kind { kNothing, kLabel, kDirective, kInstruction };
  Kind kind = Kind::kNothing;
  std::string text;  // as written, with comment
  std::string name;  // the label, the directive with its dot, or the mnemonic in lower case
  std::vector<std::string> operands;  // without comment
};

// One for each label, directive and instruction, also where a line has several. Joined by line
// ends, their texts mean what `text` means.
[[nodiscard]] std::vector<Statement> SplitStatements(std::string_view text);

// At the commas outside brackets, braces and strings.
[[nodiscard]] std::vector<std::string> SplitOperands(std::string_view text);

// Names in an expression: ".L4" and ".L8" of ".L4-.L8+3".
[[nodiscard]] std::vector<std::string> NamesIn(std::string_view expression);

// Without its quotes, if it has them.
[[nodiscard]] std::string_view Unquoted(std::string_view text);

}  // namespace pragma
