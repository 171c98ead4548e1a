// Turns reports of sanitizers into reasons that a model can act on.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "build/instrument.h"
#include "build/workshop.h"
#include "core/status.h"

namespace pragma {
namespace {

constexpr std::size_t kShownLog = 4000;
constexpr std::string_view kPlace = "kernel.cpp:";

// Returns "12" for "... /build/kernel.cpp:12:5 ...": the first line of the kernel from `begin` on.
std::string LineIn(const std::vector<std::string>& lines, std::size_t begin) {
  for (std::size_t i = begin; i < lines.size() && i < begin + 40; ++i) {
    const std::size_t at = lines[i].find(kPlace);
    if (at == std::string::npos) continue;
    const std::size_t digits = at + kPlace.size();
    const std::size_t end = lines[i].find_first_not_of("0123456789", digits);
    if (end != digits) return lines[i].substr(digits, end - digits);
  }
  return {};
}

std::string WithLine(std::string what, const std::vector<std::string>& lines, std::size_t begin) {
  const std::string line = LineIn(lines, begin);
  return line.empty() ? what : what + " (kernel.cpp:" + line + ")";
}

// Returns "heap-buffer-overflow" for "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address
// ...".
std::string AddressKind(const std::string& line) {
  constexpr std::string_view kMark = "AddressSanitizer: ";
  const std::size_t at = line.find(kMark) + kMark.size();
  return line.substr(at, line.find(' ', at) - at);
}

std::string AccessIn(const std::vector<std::string>& lines, std::size_t begin) {
  for (std::size_t i = begin; i < lines.size() && i < begin + 4; ++i) {
    if (lines[i].starts_with("READ of size") || lines[i].starts_with("WRITE of size"))
      return ": " + lines[i].substr(0, lines[i].find(" at "));
  }
  return {};
}

// Returns the output that the main program was showing when line `i` was written.
std::string OutputShown(const std::vector<std::string>& lines, std::size_t i) {
  for (std::size_t k = i + 1; k-- > 0;) {
    const std::size_t at = lines[k].find(kOutputHeading);
    if (at != std::string::npos) return "the output " + lines[k].substr(at + kOutputHeading.size());
  }
  return "an output";
}

// Returns the finding that one line begins, in words. Empty: it begins none.
std::string Headline(Sanitizer sanitizer, const std::vector<std::string>& lines, std::size_t i) {
  const std::string& line = lines[i];
  switch (sanitizer) {
    case Sanitizer::kAddress:
      if (line.contains("ERROR: AddressSanitizer: ")) {
        return WithLine("AddressSanitizer: " + AddressKind(line) + AccessIn(lines, i + 1), lines,
                        i + 1);
      }
      if (line.contains(kPlace) && line.contains("runtime error: "))
        return "undefined behaviour: " + line.substr(line.find(kPlace));
      return {};
    case Sanitizer::kMemory:
      if (line.contains("Syscall param write(buf) points to uninitialised byte"))
        return "memcheck: " + OutputShown(lines, i) +
               " holds values that were never written, or were computed from such";
      for (const std::string_view kind :
           {"Conditional jump or move depends on uninitialised value", "Use of uninitialised value",
            "Invalid read of size", "Invalid write of size"}) {
        if (line.contains(kind) && !LineIn(lines, i + 1).empty())
          return WithLine("memcheck: " + line.substr(line.find(kind)), lines, i + 1);
      }
      return {};
    case Sanitizer::kThread:
      if (line.contains("WARNING: ThreadSanitizer: data race") && !LineIn(lines, i + 1).empty())
        return WithLine("ThreadSanitizer: data race between threads", lines, i + 1);
      return {};
  }
  return {};
}

}  // namespace

std::string_view SanitizerName(Sanitizer sanitizer) {
  switch (sanitizer) {
    case Sanitizer::kAddress: return "address";
    case Sanitizer::kMemory: return "memory";
    case Sanitizer::kThread: return "thread";
  }
  return "?";
}

std::optional<SanitizerFinding> ReadReport(Sanitizer sanitizer, const std::string& text) {
  const std::string safe = ToValidUtf8(text);
  const std::vector<std::string> lines = SplitLines(safe);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string headline = Headline(sanitizer, lines, i);
    if (headline.empty()) continue;
    const bool race = sanitizer == Sanitizer::kThread;
    return SanitizerFinding{.status = race ? Status::kNondeterministic : Status::kCrashed,
                            .reason = Shorten(headline, 400),
                            .log = Shorten(safe, kShownLog)};
  }
  return std::nullopt;
}

}  // namespace pragma
