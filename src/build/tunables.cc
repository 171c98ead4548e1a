#include "build/tunables.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "build/lexer.h"

namespace pragma {
namespace {

using Kind = SourceToken::Kind;

constexpr std::string_view kMacro = "PRAGMA_TUNE";
constexpr std::size_t kMostValues = 64;
constexpr std::size_t kLongestName = 64;  // same limit as in the builder

// Parses an int literal without a suffix, which both the macro and the command line support.
bool ParseInt(std::string_view token, bool negative, std::int64_t& value) {
  std::string digits;
  std::ranges::copy_if(token, std::back_inserter(digits), [](char c) { return c != '\''; });
  int base = 10;
  std::string_view rest = digits;
  if (rest.starts_with("0x") || rest.starts_with("0X")) base = 16;
  if (rest.starts_with("0b") || rest.starts_with("0B")) base = 2;
  if (base != 10) rest.remove_prefix(2);
  if (base == 10 && rest.size() > 1 && rest.front() == '0') base = 8;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value, base);
  if (code != std::errc() || end != rest.data() + rest.size() || rest.empty()) return false;
  if (negative) value = -value;
  return value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
}

// TunableReader: reads declarations, token by token.
class TunableReader final {
 public:
  explicit TunableReader(const std::vector<SourceToken>& tokens) : tokens_(tokens) {}

  Result<std::vector<Tunable>> Run() {
    std::vector<Tunable> found;
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      if (!Is(Kind::kIdentifier, kMacro)) continue;
      Tunable tunable = TRY(Declaration());
      for (const Tunable& other : found) {
        if (other.name == tunable.name) {
          return Wrong(tunable, fmt::format("the name was declared in line {}; each tunable needs "
                                            "a name of its own",
                                            other.line));
        }
      }
      if (found.size() == kMostTunables)
        return Wrong(tunable, fmt::format("a source has at most {} tunables", kMostTunables));
      found.push_back(std::move(tunable));
    }
    return found;
  }

 private:
  [[nodiscard]] bool Is(Kind kind, std::string_view text) const {
    return at_ < tokens_.size() && tokens_[at_].kind == kind && tokens_[at_].text == text;
  }
  [[nodiscard]] bool IsMark(std::string_view text) const { return Is(Kind::kPunctuation, text); }
  [[nodiscard]] bool Has(Kind kind) const {
    return at_ < tokens_.size() && tokens_[at_].kind == kind;
  }
  [[nodiscard]] std::string Found() const {
    return at_ < tokens_.size() ? "\"" + ToValidUtf8(Shorten(tokens_[at_].text, 40)) + "\""
                                : "the end of the source";
  }
  static std::unexpected<Error> Wrong(const Tunable& tunable, const std::string& what) {
    return Fail(fmt::format("line {}: PRAGMA_TUNE{}: {}", tunable.line,
                            tunable.name.empty() ? "" : "(" + Shorten(tunable.name, 80) + ")",
                            what));
  }

  Result<Tunable> Declaration() {
    Tunable tunable{.name = {}, .values = {}, .line = tokens_[at_].line};
    ++at_;
    if (!IsMark("(")) return Wrong(tunable, "write it as PRAGMA_TUNE(NAME, default, value, ...);");
    ++at_;
    if (!Has(Kind::kIdentifier))
      return Wrong(tunable, "the first argument must be a name, not " + Found());
    tunable.name = tokens_[at_++].text;
    if (tunable.name.size() > kLongestName)
      return Wrong(tunable, fmt::format("a name has at most {} letters", kLongestName));
    while (IsMark(",")) TRY(Value(tunable));
    if (!IsMark(")"))
      return Wrong(tunable, "a comma or the closing bracket is missing before " + Found());
    if (tunable.values.empty()) return Wrong(tunable, "it has no default and no values");
    return tunable;
  }

  // Reads a value after a comma.
  Result<void> Value(Tunable& tunable) {
    ++at_;
    const bool negative = IsMark("-");
    if (negative || IsMark("+")) ++at_;
    std::int64_t value = 0;
    if (!Has(Kind::kNumber) || !ParseInt(tokens_[at_].text, negative, value)) {
      return Wrong(tunable,
                   "default and values must be whole numbers that fit an int, not " + Found());
    }
    ++at_;
    if (std::ranges::find(tunable.values, value) == tunable.values.end())
      tunable.values.push_back(value);
    if (tunable.values.size() > kMostValues)
      return Wrong(tunable, fmt::format("a tunable has at most {} values", kMostValues));
    return {};
  }

  const std::vector<SourceToken>& tokens_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Tunable>> ReadTunables(const LexedSource& source) {
  return TunableReader(source.tokens).Run();
}

std::vector<MarkedComment> CommentsWith(const LexedSource& source, const std::string& mark) {
  std::vector<MarkedComment> found;
  for (const SourceComment& comment : source.comments) {
    const std::string_view text = Trim(comment.text);
    if (!text.starts_with(mark)) continue;
    found.push_back({.text = std::string(Trim(text.substr(mark.size()))), .line = comment.line});
  }
  return found;
}

}  // namespace pragma
