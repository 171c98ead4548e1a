// Diagnostic: a compiler message that a model can act on.
#pragma once

#include <string>

namespace pragma {

struct Diagnostic {
  std::string severity;  // "error", "warning", "note"
  std::string file;
  int line = 0;  // 1-based; 0: the message names no line
  int column = 0;
  std::string message;
  std::string source_line;  // text of that line, where known
};

}  // namespace pragma
