// Prepares a loop's instructions for llvm-mca.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "profile/mca.h"

namespace pragma {
namespace {

constexpr std::string_view kLabel = ".Lloop";
constexpr std::size_t kMaxInstructions = 4096;
#if defined(__aarch64__)
constexpr std::string_view kComment = "//";
#else
constexpr std::string_view kComment = "#";
#endif

enum class StepKind { kPlain, kCall, kJump, kFar };

std::string_view FirstWord(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  return text.substr(0, end);
}

bool IsPrefix(std::string_view word) {
  constexpr std::array kPrefixes = {"lock",  "rep",   "repz",    "repe",
                                    "repnz", "repne", "notrack", "bnd"};
  return std::ranges::find(kPrefixes, word) != kPrefixes.end() || word.starts_with('{');
}

// Returns the text from the mnemonic on.
std::string_view SkipPrefixes(std::string_view text) {
  while (IsPrefix(FirstWord(text))) text = Trim(text.substr(FirstWord(text).size()));
  return text;
}

bool IsMnemonic(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
  });
}

#if defined(__aarch64__)
StepKind KindOf(std::string_view mnemonic) {
  if (mnemonic == "bl" || mnemonic == "blr") return StepKind::kCall;
  if (mnemonic == "ret" || mnemonic == "br") return StepKind::kFar;
  const bool jump = mnemonic == "b" || mnemonic.starts_with("b.") || mnemonic.starts_with("cb") ||
                    mnemonic.starts_with("tb");
  return jump && mnemonic != "tbl" && mnemonic != "tbx" ? StepKind::kJump : StepKind::kPlain;
}
#else
StepKind KindOf(std::string_view mnemonic) {
  if (mnemonic.starts_with("call")) return StepKind::kCall;
  if (mnemonic.starts_with("ret") || mnemonic == "ud2" || mnemonic == "hlt") return StepKind::kFar;
  return mnemonic.starts_with('j') || mnemonic.starts_with("loop") ? StepKind::kJump
                                                                   : StepKind::kPlain;
}
#endif

// Removes a label ("name:") before an instruction. Assemblers allow both on one line.
std::string_view TakeLabel(std::string_view& text) {
  const std::size_t colon = text.find(':');
  const bool label =
      colon != std::string_view::npos && IsMnemonic(text.substr(0, colon)) &&
      (colon + 1 == text.size() || std::isspace(static_cast<unsigned char>(text[colon + 1])) != 0);
  if (!label) return {};
  const std::string_view name = text.substr(0, colon);
  text = Trim(text.substr(colon + 1));
  return name;
}

class LoopWriter final {
 public:
  void Add(std::string_view text) {
    text = Trim(text.substr(0, text.find(kComment)));
    while (!TakeLabel(text).empty()) {
      if (count_ > 0) several_blocks_ = true;
    }
    if (text.empty() || text.starts_with('.')) return;
    const std::string_view body = SkipPrefixes(text);
    const std::string_view mnemonic = FirstWord(body);
    if (!IsMnemonic(mnemonic)) {
      unreadable_ = true;
      return;
    }
    if (jumped_) several_blocks_ = true;
    ++count_;
    AddInstruction(text, body, mnemonic);
  }

  [[nodiscard]] McaSource Take() const {
    if (calls_ > 0) {
      return {.text = {},
              .refusal = "the hot loop calls " + callee_ + ", which llvm-mca cannot look into"};
    }
    if (several_blocks_)
      return {.text = {}, .refusal = "the hot loop has several blocks, llvm-mca takes one"};
    if (unreadable_ || count_ == 0 || count_ > kMaxInstructions)
      return {.text = {}, .refusal = "the hot loop's instructions are not known"};
    return {.text = std::string(kLabel) + ":\n" + text_, .refusal = {}};
  }

 private:
  void AddInstruction(std::string_view text, std::string_view body, std::string_view mnemonic) {
    const std::string_view operands = Trim(body.substr(mnemonic.size()));
    switch (KindOf(mnemonic)) {
      case StepKind::kCall:
        ++calls_;
        callee_ = operands.empty() ? "a function" : ToValidUtf8(Shorten(operands, 60));
        break;
      case StepKind::kFar: several_blocks_ = true; break;
      case StepKind::kJump: AddJump(mnemonic, operands); break;
      case StepKind::kPlain: Write(text); break;
    }
  }

  // Only the jump's target is renamed. On AArch64 other operands may come before it.
  void AddJump(std::string_view mnemonic, std::string_view operands) {
    jumped_ = true;
    if (operands.starts_with('*')) several_blocks_ = true;
    const std::size_t comma = operands.rfind(',');
    const std::string_view kept =
        comma == std::string_view::npos ? std::string_view() : operands.substr(0, comma + 1);
    Write(std::string(mnemonic) + " " + std::string(kept) + std::string(kLabel));
  }

  void Write(std::string_view text) {
    for (const char c : text) text_ += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : ' ';
    text_ += '\n';
  }

  std::string text_;
  std::string callee_;
  std::size_t count_ = 0;
  int calls_ = 0;
  bool jumped_ = false;
  bool several_blocks_ = false;
  bool unreadable_ = false;
};

}  // namespace

McaSource PrepareLoop(const LoopBody& loop) {
  LoopWriter writer;
  for (const std::string& line : loop.instructions) {
    for (const std::string& part : SplitLines(line)) {
      const std::string_view code = std::string_view(part).substr(0, part.find(kComment));
      for (const std::string& instruction : Split(code, ';')) writer.Add(instruction);
    }
  }
  return writer.Take();
}

}  // namespace pragma
