// Reads g++'s lines: "file:line:column: missed: not vectorized: control flow in loop."
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "profile/remark_list.h"
#include "profile/remarks.h"

namespace pragma {
namespace {

struct GccLine {
  bool own = false;  // in kernel.cpp
  int line = 0;
  bool missed = false;
  std::string_view text;
};

std::optional<GccLine> ParseLine(std::string_view line) {
  for (const auto& [mark, missed] : {std::pair{std::string_view(": missed: "), true},
                                     std::pair{std::string_view(": optimized: "), false}}) {
    const std::size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    std::string_view place = line.substr(0, at);
    place = place.substr(0, std::min(place.rfind(':'), place.size()));
    const std::size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    GccLine result{.own = IsKernelFile(place.substr(0, colon)),
                   .line = 0,
                   .missed = missed,
                   .text = Trim(line.substr(at + mark.size()))};
    const char* end = place.data() + place.size();
    if (std::from_chars(place.data() + colon + 1, end, result.line).ec != std::errc())
      return std::nullopt;
    return result;
  }
  return std::nullopt;
}

// Returns "expf" for "statement clobbers memory: _5 = __builtin_expf (_8);". The result is empty if
// this is not a call that a programmer could avoid.
std::string Callee(std::string_view text) {
  const std::size_t open = text.find(" (");
  if (open == std::string_view::npos) return {};
  text = text.substr(0, open);
  std::string_view name = text.substr(text.rfind(' ') + 1);
  if (name.starts_with("__builtin_ia32") || name.starts_with("__builtin_GOMP") ||
      name.starts_with("GOMP_"))
    return {};
  if (name.starts_with("__builtin_")) name.remove_prefix(10);
  return std::string(name);
}

// Returns what a "missed" line tells a reader, or an empty string if it is not informative.
std::string Reason(std::string_view text) {
  constexpr std::string_view kClobbers = "statement clobbers memory: ";
  constexpr std::string_view kNot = "not vectorized: ";
  if (text.starts_with(kClobbers)) {
    const std::string callee = Callee(text.substr(kClobbers.size()));
    return callee.empty() ? std::string() : "it calls " + callee;
  }
  if (!text.starts_with(kNot)) return {};
  text.remove_prefix(kNot.size());
  // The rest of the line has only the compiler's internal names.
  for (const std::string_view cut : {" stmt:", ": _", "; _"})
    text = text.substr(0, std::min(text.find(cut), text.size()));
  while (text.ends_with('.')) text.remove_suffix(1);
  return std::string(text);
}

// g++ first names the loop, then the statement that prevented vectorisation.
class GccReader final {
 public:
  void Add(const GccLine& line) {
    if (!line.missed) {
      Flush();
      if (line.own && line.text.find("vectorized using") != std::string_view::npos)
        list_.Add(Make(line.line, "passed", std::string(line.text)));
      return;
    }
    if (line.text.starts_with("couldn't vectorize loop")) {
      Flush();
      loop_ = line.own ? line.line : 0;
      return;
    }
    const std::string reason = Reason(line.text);
    if (reason.empty()) return;
    if (loop_ > 0) list_.Add(Make(loop_, "missed", "loop not vectorized: " + reason));
    if (line.own && line.line != loop_) list_.Add(Make(line.line, "missed", reason));
    loop_ = 0;
  }
  std::vector<Remark> Take() {
    Flush();
    return list_.Take();
  }

 private:
  static Remark Make(int line, std::string kind, std::string text) {
    return {.line = line,
            .pass = "loop-vectorize",
            .kind = std::move(kind),
            .text = std::move(text),
            .compiler = "g++"};
  }
  // Adds a loop for which no reason was given.
  void Flush() {
    if (loop_ > 0) list_.Add(Make(loop_, "missed", "loop not vectorized"));
    loop_ = 0;
  }
  RemarkList list_;
  int loop_ = 0;
};

}  // namespace

std::vector<Remark> ReadGccRemarks(std::string_view text) {
  GccReader reader;
  for (const std::string& line : SplitLines(text)) {
    if (const std::optional<GccLine> parts = ParseLine(line)) reader.Add(*parts);
  }
  return reader.Take();
}

}  // namespace pragma
