// Tunables: PRAGMA_TUNE and the pragma- comments of one source, as they stand there
// (docs/tuning.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/lexer.h"

namespace pragma {

// Of one source. More combinations than these no tuner could sample fairly.
inline constexpr std::size_t kMostTunables = 16;
inline constexpr std::size_t kMostCombinations = 65536;

// PRAGMA_TUNE(NAME, default, value, ...).
struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;  // each once, the default first
  int line = 0;                      // 1-based
};

// In the order of the source; in comments, strings and directives there are none. The error names
// the line.
[[nodiscard]] Result<std::vector<Tunable>> ReadTunables(const LexedSource& source);

struct MarkedComment {
  std::string text;  // trimmed, after the mark
  int line = 0;
};
// Comments that begin with `mark`, as "pragma-constraint:".
[[nodiscard]] std::vector<MarkedComment> CommentsWith(const LexedSource& source,
                                                      const std::string& mark);

}  // namespace pragma
