// Parses the messages of gcc, clang and nvcc. It reads their text, not their JSON: gcc and clang
// agree on "file:line:column: severity: message", and gcc 12's JSON holds the full history of every
// template.
#include "build/diagnostics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "build/builder.h"
#include "build/dialect.h"
#include "core/candidate.h"
#include "core/diagnostic.h"

namespace pragma {
namespace {

constexpr std::size_t kMaxDiagnostics = 40;
// Limit of notes per error. The remaining notes are template noise. Notes in the kernel itself lead
// to the cause.
constexpr std::size_t kMaxNotes = 2;
constexpr std::size_t kMaxOwnNotes = 4;
constexpr std::size_t kMaxMessage = 400;
constexpr std::size_t kMaxSourceLine = 200;
constexpr std::array<std::string_view, 2> kSourceNames{DialectOf(Language::kCpp).source,
                                                       DialectOf(Language::kCuda).source};

// Takes ":<number>" from the front of the text.
std::optional<int> TakeNumber(std::string_view& text) {
  if (!text.starts_with(':')) return std::nullopt;
  int number = 0;
  const auto [end, code] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (code != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Takes "fatal error: " and the like from the front of the text.
std::string TakeSeverity(std::string_view& text) {
  struct Word {
    std::string_view word;
    std::string_view severity;
  };
  constexpr Word kWords[] = {{"fatal error: ", "error"},
                             {"error: ", "error"},
                             {"internal compiler error: ", "error"},
                             {"sorry, unimplemented: ", "error"},
                             {"warning: ", "warning"},
                             {"note: ", "note"}};
  // nvcc writes "warning #177-D: ".
  for (const std::string_view numbered : {"error #", "warning #"}) {
    const std::size_t end = text.find(": ");
    if (!text.starts_with(numbered) || end == std::string_view::npos) continue;
    text.remove_prefix(end + 2);
    return std::string(numbered.substr(0, numbered.size() - 2));
  }
  for (const Word& word : kWords) {
    if (!text.starts_with(word.word)) continue;
    if (word.word != "internal compiler error: ") text.remove_prefix(word.word.size());
    return std::string(word.severity);
  }
  return {};
}

// Place: the place at the beginning of a line of text: "kernel.cpp:12:5: ", "kernel.cu(12): ".
// Columns are optional.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  std::string_view rest;
};

// Parses a place in nvcc's form.
std::optional<Place> TakeBracketedPlace(std::string_view line) {
  const std::size_t bracket = line.find('(');
  const std::size_t end = line.find("): ");
  if (bracket == 0 || bracket == std::string_view::npos || end == std::string_view::npos ||
      end < bracket) {
    return std::nullopt;
  }
  const std::string digits = ":" + std::string(line.substr(bracket + 1, end - bracket - 1));
  std::string_view left = digits;
  const std::optional<int> number = TakeNumber(left);
  if (!number || !left.empty()) return std::nullopt;
  return Place{.file = ToValidUtf8(line.substr(0, bracket)),
               .line = *number,
               .column = 0,
               .rest = line.substr(end + 3)};
}

std::optional<Place> TakePlace(std::string_view line) {
  if (std::optional<Place> place = TakeBracketedPlace(line)) return place;
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    std::string_view rest = line.substr(colon);
    const std::optional<int> number = TakeNumber(rest);
    if (!number) continue;
    const int column = TakeNumber(rest).value_or(0);
    if (!rest.starts_with(": ")) continue;
    return Place{.file = ToValidUtf8(line.substr(0, colon)),
                 .line = *number,
                 .column = column,
                 .rest = rest.substr(2)};
  }
  return std::nullopt;
}

// Returns the name of the candidate's own file without its folder. Empty: it is another file.
std::string_view OurSource(std::string_view file) {
  for (const std::string_view name : kSourceNames) {
    if (file == name || file.ends_with("/" + std::string(name))) return name;
  }
  return {};
}

bool IsOurSource(std::string_view file) { return !OurSource(file).empty(); }

std::string SourceLine(const std::vector<std::string>& lines, const Place& place) {
  const auto index = static_cast<std::size_t>(place.line);
  if (!IsOurSource(place.file) || index == 0 || index > lines.size()) return {};
  return ToValidUtf8(Shorten(Trim(lines[index - 1]), kMaxSourceLine));
}

class Parser final {
 public:
  explicit Parser(const std::string& source) : lines_(SplitLines(source)) {}

  void Line(std::string_view line) {
    if (const std::optional<Place> place = TakePlace(line)) {
      Placed(*place);
    } else {
      Unplaced(line);
    }
  }

  std::vector<Diagnostic> Take() { return std::move(result_); }

 private:
  // Handles a line with a place. Deep in a library header, only the place in the kernel that led
  // there helps the author.
  void Placed(const Place& place) {
    std::string_view rest = place.rest;
    const std::string severity = TakeSeverity(rest);
    if (severity.empty()) {
      if (IsOurSource(place.file) && Trim(rest).starts_with("required from")) cause_ = place;
      return;
    }
    Add(Make(severity, place, rest));
    if (severity == "error" && !IsOurSource(place.file) && cause_) {
      Add(Make("note", *cause_, "the error above comes from here"));
    }
    if (severity != "note") cause_.reset();
  }

  // Handles a line without a place: "g++: error: unrecognized command-line option ...",
  // "/usr/bin/ld: ... undefined reference ...".
  void Unplaced(std::string_view line) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return;
    std::string_view rest = line.substr(colon + 2);
    std::string severity = TakeSeverity(rest);
    // ptxas writes "ptxas error   : Entry function 'k' uses too much shared data ...".
    if (line.starts_with("ptxas error") || line.starts_with("ptxas fatal")) severity = "error";
    const bool linker = line.find("undefined reference") != std::string_view::npos ||
                        line.find("multiple definition") != std::string_view::npos;
    if (severity.empty() && !linker) return;
    const Place nowhere{};
    Add(Make(linker ? "error" : severity, nowhere, rest));
  }

  [[nodiscard]] Diagnostic Make(const std::string& severity, const Place& place,
                                std::string_view message) const {
    return {.severity = severity,
            .file = IsOurSource(place.file) ? std::string(OurSource(place.file)) : place.file,
            .line = place.line,
            .column = place.column,
            .message = ToValidUtf8(Shorten(Trim(message), kMaxMessage)),
            .source_line = SourceLine(lines_, place)};
  }

  void Add(Diagnostic diagnostic) {
    const bool note = diagnostic.severity == "note";
    const bool own = IsKernelSource(diagnostic.file);
    if (!note) notes_ = own_notes_ = 0;
    std::size_t& count = own ? own_notes_ : notes_;
    const bool wanted = !note || count++ < (own ? kMaxOwnNotes : kMaxNotes);
    if (result_.size() < kMaxDiagnostics && wanted) result_.push_back(std::move(diagnostic));
  }

  std::vector<std::string> lines_;
  std::vector<Diagnostic> result_;
  std::optional<Place> cause_;
  std::size_t notes_ = 0;      // notes since the last error or warning
  std::size_t own_notes_ = 0;  // notes in the kernel among these
};

}  // namespace

bool IsKernelSource(std::string_view file) {
  return std::ranges::find(kSourceNames, file) != kSourceNames.end();
}

std::vector<Diagnostic> ParseDiagnostics(const std::string& text, const std::string& source) {
  Parser parser(source);
  const std::vector<std::string> lines = SplitLines(text);  // places point into these lines
  for (const std::string& line : lines) parser.Line(line);
  return parser.Take();
}

}  // namespace pragma
