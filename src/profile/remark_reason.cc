// Selects from all remarks the one text that is shown next to a hot line.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "build/lexer.h"
#include "profile/remark_list.h"
#include "profile/remarks.h"

namespace pragma {
namespace {

constexpr std::size_t kMaxRemarks = 400;
constexpr std::size_t kMaxText = 240;
constexpr std::size_t kMaxReason = 320;

// Tracks by braces which loops are open at a position of the source. A loop without braces ends
// with its statement.
class LoopTracker final {
 public:
  // Returns the first line of the innermost loop that contains the token.
  int Step(const SourceToken& token) {
    if (token.kind == SourceToken::Kind::kIdentifier &&
        (token.text == "for" || token.text == "while" || token.text == "do")) {
      loops_.push_back({.line = token.line, .depth = depth_, .parens = parens_, .braced = false});
    }
    const int before = loops_.empty() ? 0 : loops_.back().line;
    if (token.kind == SourceToken::Kind::kPunctuation) Punctuation(token.text);
    return before;
  }

 private:
  struct Open {
    int line = 0;
    int depth = 0;   // brace depth where it began
    int parens = 0;  // parenthesis depth where it began
    bool braced = false;
  };
  void Punctuation(const std::string& text) {
    for (const char c : text) {
      if (c == '(') ++parens_;
      if (c == ')') --parens_;
      if (c == '{') OpenBrace();
      if (c == '}') CloseBrace();
      if (c == ';') EndStatement();
    }
  }
  void OpenBrace() {
    if (!loops_.empty() && loops_.back().depth == depth_ && loops_.back().parens == parens_)
      loops_.back().braced = true;
    ++depth_;
  }
  void CloseBrace() {
    --depth_;
    while (!loops_.empty() && loops_.back().depth > depth_) loops_.pop_back();
    if (!loops_.empty() && loops_.back().depth == depth_ && loops_.back().braced) {
      loops_.pop_back();
      EndStatement();
    }
  }
  // Closes every loop without braces whose body was this statement.
  void EndStatement() {
    while (!loops_.empty() && !loops_.back().braced && loops_.back().depth == depth_ &&
           loops_.back().parens == parens_)
      loops_.pop_back();
  }
  std::vector<Open> loops_;
  int depth_ = 0;
  int parens_ = 0;
};

bool Speaks(const Remark& remark, int line, int loop_line) {
  return remark.line == line || (loop_line > 0 && remark.line == loop_line);
}

// Ranks a missed vectorisation by how informative its text is.
int Weight(const Remark& remark) {
  if (remark.kind == "passed") return 0;
  if (remark.text == "loop not vectorized") return 1;
  if (remark.text.contains("instruction cannot be vectorized") && !remark.text.contains("call"))
    return 2;
  return 3;
}

// Returns the best vectoriser remark of one compiler. The line's own remarks take precedence over
// its loop's.
const Remark* Best(const std::vector<Remark>& remarks, std::string_view compiler, int line,
                   int loop_line) {
  const Remark* best = nullptr;
  const auto rank = [&](const Remark& remark) {
    return std::tuple(Weight(remark), remark.line == line);
  };
  for (const Remark& remark : remarks) {
    if (remark.compiler != compiler || !Speaks(remark, line, loop_line)) continue;
    if (remark.pass != "loop-vectorize" && remark.pass != "transform-warning") continue;
    if (best == nullptr || rank(remark) > rank(*best)) best = &remark;
  }
  return best;
}

bool Missed(const Remark* remark) { return remark != nullptr && remark->kind != "passed"; }

std::string Stripped(std::string_view text) {
  constexpr std::string_view kHead = "loop not vectorized: ";
  if (text.starts_with(kHead)) text.remove_prefix(kHead.size());
  return std::string(text);
}

std::string Vectorisation(const Remark* gcc, const Remark* clang) {
  if (gcc == nullptr && clang == nullptr) return {};
  if (gcc == nullptr) {
    return Missed(clang) ? "not vectorised: " + Stripped(clang->text)
                         : "clang++: " + Stripped(clang->text);
  }
  if (clang == nullptr)
    return Missed(gcc) ? "not vectorised: " + Stripped(gcc->text) : "g++: " + gcc->text;
  if (Missed(gcc) && Missed(clang)) return "not vectorised: " + Stripped(clang->text);
  if (Missed(gcc))
    return "not vectorised by g++ (" + Stripped(gcc->text) + "); clang++: " + clang->text;
  if (Missed(clang))
    return "g++: " + gcc->text + "; clang++ did not vectorise it: " + Stripped(clang->text);
  return "g++: " + gcc->text + "; clang++: " + clang->text;
}

// Returns the first remark of a pass.
std::string FirstOf(const std::vector<Remark>& remarks, std::string_view pass, int line,
                    int loop_line) {
  for (const Remark& remark : remarks) {
    const bool function = remark.text.contains("in this function");
    if (remark.pass == pass && Speaks(remark, line, loop_line) && !function) return remark.text;
  }
  return {};
}

}  // namespace

bool IsKernelFile(std::string_view path) {
  return path == "kernel.cpp" || path.ends_with("/kernel.cpp");
}

void RemarkList::Add(Remark remark) {
  if (remark.line <= 0 || remark.text.empty() || remarks_.size() >= kMaxRemarks) return;
  remark.text = Shorten(ToValidUtf8(Join(SplitLines(remark.text), " ")), kMaxText);
  remark.pass = Shorten(ToValidUtf8(remark.pass), kMaxText);
  const bool known = std::ranges::any_of(remarks_, [&](const Remark& other) {
    return other.line == remark.line && other.pass == remark.pass && other.text == remark.text;
  });
  if (!known) remarks_.push_back(std::move(remark));
}

std::vector<Remark> RemarkList::Take() {
  std::ranges::stable_sort(remarks_, {}, &Remark::line);
  return std::move(remarks_);
}

int LoopLine(const std::string& source, int line) {
  LoopTracker tracker;
  int loop = 0;
  for (const SourceToken& token : LexSource(source).tokens) {
    if (token.line > line) break;
    const int around = tracker.Step(token);
    if (token.line == line) loop = std::max(loop, around);
  }
  return loop;
}

std::string ReasonFor(const std::vector<Remark>& remarks, int line, int loop_line) {
  std::vector<std::string> parts{Vectorisation(Best(remarks, "g++", line, loop_line),
                                               Best(remarks, "clang++", line, loop_line))};
  for (const std::string_view pass : {"regalloc", "inline", "licm"})
    parts.push_back(FirstOf(remarks, pass, line, loop_line));
  std::erase(parts, "");
  return Shorten(Join(parts, "; "), kMaxReason);
}

}  // namespace pragma
