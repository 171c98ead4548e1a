// Tunables: PRAGMA_TUNE and the pragma- comments of one source, as written there (docs/tuning.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/lexer.h"

namespace pragma {

// Limits of one source. No tuner could sample more combinations fairly.
inline constexpr std::size_t kMostTunables = 16;
inline constexpr std::size_t kMostCombinations = 65536;

// Tunable: one PRAGMA_TUNE(NAME, default, value, ...).
struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;  // each once, the default first
  int line = 0;                      // 1-based
};

// Returns the tunables in the order of the source. Those in comments, strings and directives do not
// count. The error names the line.
[[nodiscard]] Result<std::vector<Tunable>> ReadTunables(const LexedSource& source);

struct MarkedComment {
  std::string text;  // trimmed text after the mark
  int line = 0;
};
// Returns the comments that begin with `mark`, for example "pragma-constraint:".
[[nodiscard]] std::vector<MarkedComment> CommentsWith(const LexedSource& source,
                                                      const std::string& mark);

}  // namespace pragma
