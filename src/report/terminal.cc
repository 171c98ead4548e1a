#include "report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"

namespace pragma {
namespace {

// The environment is read while the program has a single thread, and our code never changes it.
std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::size_t WidthFromEnvironment() {
  const std::string text(Variable("COLUMNS"));
  return text.empty() ? 0 : std::strtoul(text.c_str(), nullptr, 10);
}

std::size_t WidthOf(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

bool LocaleIsUnicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = Variable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos ||
           value.find("utf8") != std::string_view::npos;
  }
  return true;  // nothing is set, as in containers, whose terminals show Unicode
}

std::string_view Code(Style style) {
  switch (style) {
    case Style::kPlain: return "";
    case Style::kBold: return "\x1b[1m";
    case Style::kDim: return "\x1b[2m";
    case Style::kGood: return "\x1b[32m";
    case Style::kBad: return "\x1b[31m";
    case Style::kWarn: return "\x1b[33m";
  }
  return "";
}

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

}  // namespace

Terminal DescribeTerminal(int fd) {
  Terminal terminal;
  const bool tty = ::isatty(fd) == 1;
  terminal.interactive = tty && Variable("TERM") != "dumb";
  terminal.color = terminal.interactive && Variable("NO_COLOR").empty();
  terminal.unicode = LocaleIsUnicode();
  terminal.width = WidthFromEnvironment();
  if (terminal.width == 0 && tty) terminal.width = WidthOf(fd);
  return terminal;
}

std::string Styled(const Terminal& terminal, Style style, std::string_view text) {
  if (!terminal.color || style == Style::kPlain || text.empty()) return std::string(text);
  return std::string(Code(style)) + std::string(text) + "\x1b[0m";
}

std::size_t DisplayWidth(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, StartsCharacter));
}

std::string CutToWidth(const Terminal& terminal, std::string_view text, std::size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  const std::string_view mark = terminal.unicode ? "…" : "...";
  const std::size_t room = width - std::min(width, DisplayWidth(mark));
  std::size_t end = 0;
  for (std::size_t taken = 0; end < text.size(); ++end) {
    if (StartsCharacter(text[end]) && taken++ == room) break;
  }
  return std::string(text.substr(0, end)) + std::string(mark);
}

std::string SafeText(std::string_view text) {
  std::string safe = ToValidUtf8(text);
  for (char& c : safe) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) c = '?';
  }
  return safe;
}

std::string SafeLine(std::string_view text) {
  std::string line;
  for (const char c : SafeText(text)) {
    const bool space = c == ' ' || c == '\n' || c == '\t';
    if (!space) line += c;
    if (space && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace pragma
