// Terminal: the capabilities of the stream that people read. It is a value, so that tests can
// choose it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pragma {

struct Terminal {
  bool interactive = false;  // a person is watching: lines may be redrawn
  bool color = false;        // NO_COLOR and TERM=dumb are honoured
  bool unicode = true;
  std::size_t width = 0;  // in columns; 0: unlimited (a file or a pipe)
};

// Examines the descriptor and the environment (NO_COLOR, TERM, COLUMNS, LC_ALL, LC_CTYPE, LANG).
[[nodiscard]] Terminal DescribeTerminal(int fd);

enum class Style { kPlain, kBold, kDim, kGood, kBad, kWarn };

// Returns `text` in the style, or unchanged if the terminal shows no colour.
[[nodiscard]] std::string Styled(const Terminal& terminal, Style style, std::string_view text);

// Returns the number of columns that valid UTF-8 text takes, one per code point.
[[nodiscard]] std::size_t DisplayWidth(std::string_view text);
// Returns at most `width` columns. What is cut off is shown as one "…" (or "..." without Unicode).
[[nodiscard]] std::string CutToWidth(const Terminal& terminal, std::string_view text,
                                     std::size_t width);
// Makes untrusted text safe to show: valid UTF-8 without control characters except newline and tab,
// so that a kernel's output cannot control the terminal.
[[nodiscard]] std::string SafeText(std::string_view text);
// Makes untrusted text safe to show on one line: runs of white space become one space.
[[nodiscard]] std::string SafeLine(std::string_view text);

}  // namespace pragma
