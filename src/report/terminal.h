// Terminal: what the stream that people read can show. A value, so that tests can choose it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pragma {

struct Terminal {
  bool interactive = false;  // a person watches: lines may be redrawn
  bool color = false;        // NO_COLOR and TERM=dumb are honoured
  bool unicode = true;
  std::size_t width = 0;  // columns; 0: unlimited (a file or a pipe)
};

// Looks at the descriptor and the environment (NO_COLOR, TERM, COLUMNS, LC_ALL, LC_CTYPE, LANG).
[[nodiscard]] Terminal DescribeTerminal(int fd);

enum class Style { kPlain, kBold, kDim, kGood, kBad, kWarn };

// `text` in the style, or unchanged when the terminal shows no colour.
[[nodiscard]] std::string Styled(const Terminal& terminal, Style style, std::string_view text);

// Columns that valid UTF-8 text takes, one per code point.
[[nodiscard]] std::size_t DisplayWidth(std::string_view text);
// At most `width` columns; what is cut off is shown as one "…" (or "..." without unicode).
[[nodiscard]] std::string CutToWidth(const Terminal& terminal, std::string_view text,
                                     std::size_t width);
// Foreign text made safe to show: valid UTF-8, and no control characters but newline and tab, so
// that a kernel's output cannot steer the terminal.
[[nodiscard]] std::string SafeText(std::string_view text);
// The same on one line: runs of white space become one space.
[[nodiscard]] std::string SafeLine(std::string_view text);

}  // namespace pragma
